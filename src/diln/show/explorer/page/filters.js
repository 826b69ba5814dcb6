// What is selected: as parameters of requests, and as chips that can be taken off.
import { button, h } from "app/dom.js";
import { day } from "app/format.js";

/** Parameters that restrict documents to what is selected. */
export function filters(state) {
  return {
    q: [state.q, state.word].filter(Boolean).join(" "), topic: state.topic, other: state.other, theme: state.theme,
    n_themes: state.themes, label: state.label, since: state.since, until: state.until,
  };
}

/** A sentence about what is selected, for titles and the live region. */
export function told(app) {
  const parts = chipsOf(app).map((one) => `${one.kind} ${one.text}`);
  return parts.length ? parts.join(", ") : "everything";
}

function chipsOf({ store: { state }, book }) {
  const chips = [];
  const add = (kind, text, off) => chips.push({ kind, text, off });
  if (state.theme !== null) add("theme", book.themeName(state.theme), { theme: null });
  if (state.topic !== null) add("topic", book.name(state.topic), { topic: null, other: null });
  if (state.other !== null) add("with topic", book.name(state.other), { other: null });
  if (state.word) add("word", state.word, { word: null });
  if (state.label) add("label", state.label, { label: null });
  if (state.since || state.until) {
    const text = [state.since && `from ${day(state.since)}`, state.until && `to ${day(state.until)}`].filter(Boolean).join(" ");
    add("time", text, { since: null, until: null });
  }
  if (state.document !== null) add("document", book.titles.get(state.document) ?? String(state.document), { document: null });
  if (state.q) add("search", `“${state.q}”`, { q: null });
  return chips;
}

/** Draw the chips; taking one off moves the focus to the next. */
export function drawChips(host, app) {
  const chips = chipsOf(app);
  host.hidden = chips.length === 0;
  const held = host.contains(document.activeElement);
  host.replaceChildren(
    ...chips.map(({ kind, text, off }) => button(
      [h("span", { class: "kind" }, kind), h("span", { class: "name" }, text), h("span", { class: "cross", "aria-hidden": "true" }, "×")],
      () => app.store.set(off), { class: "chip", "aria-label": `Remove ${kind} ${text}`, title: "Remove", "data-chip": kind })),
    ...(chips.length > 1 ? [button("Clear all", () => app.store.set(Object.assign({}, ...chips.map((one) => one.off))), { class: "chip plain" })] : []),
  );
  if (held) (host.querySelector("button") ?? document.getElementById("view")).focus();
}
