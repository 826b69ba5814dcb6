// The card of a label: how many documents bear it, and which topics are more or less common there than elsewhere.
import { get } from "app/api.js";
import { topicLink } from "app/book.js";
import { h, link, unseen } from "app/dom.js";
import { count, many, percent, times } from "app/format.js";
import { bar, note, number, section } from "app/parts.js";

const SHOWN = 12;
const LABELS = 40;

export const labelCard = {
  load: () => get("groups", { by: "topic" }),
  draw(app, { label }, groups) {
    const known = groups.labels.find((one) => one.name === label);
    if (!known) return [h("h2", {}, label), h("p", {}, "No document bears this label.")];
    const cells = groups.cells.filter((cell) => cell.label_name === label);
    const more = cells.filter((cell) => cell.sure && cell.lift > 1).sort((a, b) => b.share - a.share);
    const less = cells.filter((cell) => cell.sure && cell.lift < 1).sort((a, b) => a.lift - b.lift);
    return [
      h("p", { class: "eyebrow" }, "Label"), h("h2", {}, label),
      h("p", {}, `${many(known.n_docs, "document")}. `, link(app.store, { view: "documents", label, document: null }, "Show them")),
      part(app, "More common here than elsewhere", more), part(app, "Rarer here than elsewhere", less),
      more.length || less.length ? null : h("p", { class: "note" }, "No topic differs here by more than chance."),
      section("Labels", h("ul", { class: "inline-list" }, groups.labels.slice(0, LABELS).map((one) => labelItem(app, one))),
        groups.labels.length > LABELS ? note(`Showing ${LABELS} of ${many(groups.labels.length, "label")}.`) : null),
    ].filter(Boolean);
  },
};

function part(app, title, cells) {
  if (!cells.length) return null;
  const most = Math.max(...cells.map((cell) => cell.share));
  const row = (cell) => h("li", {}, topicLink(app, cell.id), bar(cell.share, most), number(`${percent(cell.share)}, ${times(cell.lift)} ×`));
  const rows = cells.slice(0, SHOWN).map(row);
  return section(title, h("ol", { class: "shares wide" }, rows), cut(cells.length));
}

const labelItem = (app, one) => h("li", {}, link(app.store, { label: one.name }, `${one.name} (${count(one.n_docs)})`));

const cut = (total) => (total > SHOWN ? note(`Showing ${SHOWN} of ${many(total, "topic")}.`) : null);

/** Labels of one topic: its share of each, and where that differs from the rest by more than chance. */
export function labelRows(app, cells, labels = []) {
  const sorted = [...cells].sort((a, b) => b.share - a.share);
  const most = Math.max(...sorted.map((cell) => cell.share), 1e-12);
  const sizes = new Map(labels.map((one) => [one.name, one.n_docs]));
  const verdict = (cell) => (cell.sure ? (cell.lift > 1 ? "more than elsewhere" : "less than elsewhere") : "no clear difference");
  const sign = (cell) => h("span", { "aria-hidden": "true", class: "sign" }, cell.sure ? (cell.lift > 1 ? "▲" : "▼") : "·");
  const told = (cell) => `${percent(cell.share)} of all words of ${many(sizes.get(cell.label_name) ?? 0, "document")}: ${verdict(cell)}`;
  const rows = sorted.slice(0, SHOWN).map((cell) => h("li", { title: told(cell) },
    link(app.store, { label: cell.label_name }, cell.label_name, { class: "label-link" }),
    bar(cell.share, most, cell.sure ? "var(--accent)" : "var(--none)"), number(percent(cell.share), sign(cell), unseen(verdict(cell)))));
  return [
    h("ol", { class: "shares" }, rows),
    note("▲ more, ▼ less than elsewhere, by more than chance. ", sorted.length > SHOWN ? `Showing ${SHOWN} of ${many(sorted.length, "label")}.` : null),
  ];
}
