// One box that finds topics, words and documents; a combobox as the ARIA practices have it.
import { get } from "app/api.js";
import { h, later } from "app/dom.js";
import { clip } from "app/format.js";

const TOPICS = 6;

export function searchBox(app) {
  const list = h("ul", { id: "found", role: "listbox", class: "found", "aria-label": "Found", hidden: true });
  const input = h("input", {
    id: "search", type: "search", role: "combobox", autocomplete: "off", spellcheck: "false", placeholder: "Search topics, words, documents",
    "aria-label": "Search topics, words and documents", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list",
  });
  let options = [], at = -1, turn = 0;

  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (option) => {
    close();
    input.value = "";
    app.store.set(option.change);
    app.focusView(option.change);
  };
  const mark = (next) => {
    const rows = list.querySelectorAll("[role=option]");
    if (!rows.length) return;
    at = (next + rows.length) % rows.length;
    rows.forEach((row, i) => row.setAttribute("aria-selected", String(i === at)));
    rows[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", rows[at].id);
  };
  const ask = later(async () => {
    const text = input.value.trim();
    const mine = ++turn;
    if (!text) return close();
    const found = await suggestions(app, text);
    if (mine !== turn || document.activeElement !== input) return;
    options = found;
    at = -1;
    list.replaceChildren(...found.map((option, i) => row(option, i, choose)));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    app.announce(`${found.length} found`);
  }, 120);

  input.addEventListener("input", ask);
  input.addEventListener("focus", () => input.value && ask());
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter") {
      const text = input.value.trim();
      if (at >= 0 && !list.hidden) choose(options[at]);
      else if (text) choose(inDocuments(text));
    } else return;
    event.preventDefault();
  });
  return h("search", { class: "search" }, input, list);
}

const inDocuments = (text) => ({ kind: "documents", text: `Documents with “${clip(text, 40)}”`, change: { view: "documents", q: text, document: null } });

function row(option, i, choose) {
  const down = (event) => {
    event.preventDefault();
    choose(option);
  };
  return h("li", { id: `found-${i}`, role: "option", "aria-selected": "false", on: { mousedown: down } },
    h("span", { class: "kind" }, option.kind), h("span", {}, option.text),
    option.mark ? h("span", { class: "unlisted" }, option.mark) : null);
}

function topicOption(book, id) {
  const why = book.hidden.includes(id) ? "hidden" : book.byId.has(id) ? null : "not listed";
  return { kind: `topic ${id}`, text: book.name(id), mark: why, change: { topic: id } };
}

/** Themes by label, topics by their words or label, listed or not, words by their beginning, then documents with the text. */
async function suggestions(app, text) {
  const low = text.toLowerCase();
  const { book } = app;
  const has = (one) => one.label.toLowerCase().includes(low) || String(one.id) === low;
  const themes = (book.themes?.themes ?? []).filter((one) => one.label.toLowerCase().includes(low)).slice(0, 3)
    .map((one) => ({ kind: "theme", text: one.label, change: { theme: one.id, topic: null } }));
  const [byWords, words, documents] = await Promise.all([
    get("find", { q: text, n: TOPICS }).catch(() => []),
    get("words", { prefix: low, n: 6 }).then((found) => found.words).catch(() => []),
    book.has("text") ? get("documents", { q: text, n: 4 }).then((found) => found.documents).catch(() => []) : [],
  ]);
  const named = book.topics.filter(has).map((one) => one.id);
  return [
    ...themes, ...[...new Set([...byWords.map((hit) => hit.topic), ...named])].slice(0, TOPICS).map((id) => topicOption(book, id)),
    ...words.slice(0, 6).map((one) => ({ kind: "word", text: one, change: { word: one } })),
    ...documents.map((one) => ({ kind: "document", text: clip(one.title || one.id, 90), change: { view: "documents", document: one.row } })),
    ...(book.has("text") ? [inDocuments(text)] : []),
  ];
}
