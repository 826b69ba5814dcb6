// A field to find one topic among hundreds: by its name, its number or its words; a combobox with its list below it.
import { get } from "app/api.js";
import { dot } from "app/book.js";
import { h, later } from "app/dom.js";

const SHOWN = 30; // options at a time

/** {node, chosen()}: a field for one of these topics; `one` is the topic whose neighbours come first. */
export function topicField(app, ids, one, onChoice) {
  const list = h("ul", { id: "topic-options", class: "options", role: "listbox", "aria-label": "Topics" });
  const input = h("input", {
    type: "search", role: "combobox", autocomplete: "off", spellcheck: "false", placeholder: "Search topics",
    "aria-label": "Topic to merge into this one", "aria-expanded": "true", "aria-controls": "topic-options", "aria-autocomplete": "list",
  });
  const theme = app.book.themeOf(one.id);
  const near = (id) => (theme !== null && app.book.themeOf(id) === theme ? 1 : 0);
  const share = (id) => app.book.byId.get(id)?.share ?? 0;
  const usual = [...ids].sort((a, b) => near(b) - near(a) || share(b) - share(a));
  let chosen = null, options = [], at = -1, turn = 0;

  const pick = (id) => {
    chosen = id;
    input.value = app.book.name(id);
    list.replaceChildren(...rows());
    onChoice(id);
    input.focus();
  };
  const rows = () => options.slice(0, SHOWN).map((id, i) => {
    const listed = app.book.byId.has(id);
    const kind = app.book.hidden.includes(id) ? "hidden" : listed ? "" : "not listed";
    const down = (event) => {
      event.preventDefault(); // the field keeps the focus
      pick(id);
    };
    return h("li", { id: `topic-option-${i}`, role: "option", "aria-selected": String(id === chosen), class: i === at ? "at" : null, "data-topic": id, on: { mousedown: down } },
      dot(app.book.themeOf(id)), h("span", { class: "name" }, app.book.name(id)), h("span", { class: "id" }, `${id}`), kind ? h("span", { class: "kind" }, kind) : null);
  });
  const draw = (found) => {
    options = found;
    at = -1;
    const left = found.length - SHOWN;
    const more = left > 0 ? h("li", { class: "rest", role: "presentation" }, `and ${left} more: type to find them`) : null;
    const none = found.length ? null : h("li", { class: "rest", role: "presentation" }, "No topic has this name or these words.");
    list.replaceChildren(...[...rows(), more, none].filter(Boolean));
    input.removeAttribute("aria-activedescendant");
  };
  const ask = later(async () => {
    const text = input.value.trim().toLowerCase();
    const mine = ++turn;
    if (!text) return draw(usual);
    const named = usual.filter((id) => app.book.name(id).toLowerCase().includes(text) || String(id) === text);
    const byWords = await get("find", { q: text, n: SHOWN }).catch(() => []);
    if (mine !== turn) return;
    draw([...new Set([...named, ...byWords.map((hit) => hit.topic).filter((id) => ids.includes(id))])]);
  }, 120);
  const mark = (next) => {
    const nodes = [...list.querySelectorAll("[role=option]")];
    if (!nodes.length) return;
    at = (next + nodes.length) % nodes.length;
    nodes.forEach((node, i) => node.classList.toggle("at", i === at));
    nodes[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", nodes[at].id);
  };
  input.addEventListener("input", () => {
    chosen = null;
    onChoice(null);
    ask();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at - 1);
    else if (event.key === "Enter" && at >= 0 && options[at] !== chosen) pick(options[at]);
    else return;
    event.preventDefault();
  });
  draw(usual);
  return { node: h("div", { class: "topic-field" }, input, list), chosen: () => chosen };
}
