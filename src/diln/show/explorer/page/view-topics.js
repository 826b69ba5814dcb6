// Topics: all of them as a list, by theme or by size.
import { dot, topicLink, wordLink } from "app/book.js";
import { h, link, table } from "app/dom.js";
import { choice } from "app/frame.js";
import { count, many, percent } from "app/format.js";
import { bar, number, viewHead } from "app/parts.js";
import { empty } from "app/wait.js";
import { themeColour } from "diln/colour.js";
import { belongs } from "diln/view.js";

const ORDERS = [["theme", "by theme"], ["share", "by share"], ["coherence", "by coherence"], ["name", "by name"]];

export function create(host, app) {
  const body = h("div", { class: "topic-list" });
  const said = h("p", { class: "note" });
  host.replaceChildren(
    viewHead("Topics", choice("Order", ORDERS, app.store.state.order ?? "theme", (value) => app.store.set({ order: value === "theme" ? null : value }))),
    said, body);
  return {
    update(state) {
      const rows = chosen(app, state);
      const all = app.book.topics.length;
      said.textContent = rows.length < all ? `Showing ${count(rows.length)} of ${many(all, "topic")}.` : `Showing all ${many(all, "topic")}.`;
      const nothing = empty(all ? "No topic fits the selection." : "Every topic is hidden.");
      body.replaceChildren(...(rows.length ? draw(app, state, rows) : [nothing]));
      body.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    },
    picture: () => ({ table: () => asTable(app, chosen(app, app.store.state)) }),
    destroy() {},
  };
}

/** Topics of the theme, the word, the label or the time that is selected. */
function chosen(app, state) {
  let rows = app.book.topics;
  if (state.theme !== null) rows = rows.filter((one) => app.book.themeOf(one.id) === state.theme);
  if (app.weights) {
    rows = rows.filter((one) => belongs(app, one.id)).sort((a, b) => app.weights.get(b.id) - app.weights.get(a.id));
  }
  if (state.order === "share") rows = [...rows].sort((a, b) => b.share - a.share);
  if (state.order === "coherence") rows = [...rows].sort((a, b) => (b.coherence ?? -2) - (a.coherence ?? -2));
  if (state.order === "name") rows = [...rows].sort((a, b) => a.label.localeCompare(b.label));
  return rows;
}

function draw(app, state, rows) {
  const most = Math.max(...app.book.topics.map((one) => one.share), 1e-12);
  const list = (some) => h("ol", { class: "topics" }, some.map((one) => item(app, state, one, most)));
  if (state.order || app.weights || !app.book.themes) return [list(rows)];
  return app.book.themes.themes.map((theme) => [theme, rows.filter((one) => app.book.themeOf(one.id) === theme.id)])
    .filter(([, some]) => some.length)
    .map(([theme, some]) => h("section", { class: "theme-block" },
      h("h3", {}, dot(theme.id), link(app.store, { theme: theme.id, topic: null }, theme.label),
        h("span", { class: "id" }, `${percent(theme.share)} · ${many(some.length, "topic")}`)),
      list(some)));
}

function item(app, state, one, most) {
  return h("li", { "aria-current": one.id === state.topic ? "true" : null },
    h("div", { class: "topic-line" }, topicLink(app, one.id),
      bar(one.share, most, themeColour(app.book.themeOf(one.id))), number(percent(one.share))),
    h("p", { class: "word-line" }, one.words.slice(0, 10).flatMap((term, i) => [i ? ", " : "", wordLink(app, term)])));
}

function asTable(app, rows) {
  const heads = ["topic", "label", "theme", "share", "documents", "coherence", "words", "telling words"];
  const theme = (id) => (id === null ? "" : app.book.themeName(id));
  const row = (one) => [
    one.id, one.label, theme(app.book.themeOf(one.id)), one.share, one.n_docs ?? "", one.coherence ?? "", one.words.join(" "), one.telling.join(" "),
  ];
  return table("Topics", heads, rows.map(row));
}
