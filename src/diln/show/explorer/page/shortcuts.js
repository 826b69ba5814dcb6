// Keys, and the dialog that lists them.
import { button, h } from "app/dom.js";
import { TITLES, views } from "app/tabs.js";

const KEYS = [
  ["/", "Search"],
  ["1 to 9", "Go to a view"],
  ["c", "Go to the card of what is selected"],
  ["v", "Go to the view"],
  ["n, p", "Next or previous topic"],
  ["t", "Show the view as a table, or back"],
  ["u", "Undo the last rename, merge or hiding"],
  ["Esc", "Close what is open, then take back the last selection"],
  ["?", "This list"],
];
const IN_VIEWS = [
  ["Arrow keys", "Move among topics, cells, lines, words"],
  ["Enter", "Select"],
  ["+ and −, 0", "Zoom the map, and back to the whole"],
  ["Shift + arrow keys", "Move the map"],
];

const FIXED = "The model cannot be changed from here.";
const KEPT = "Names, merges and hidden topics are kept beside the model; its numbers never change.";

export function shortcuts(app) {
  const dialog = h("dialog", { class: "help", "aria-label": "Help" });
  document.body.append(dialog);
  const open = () => {
    dialog.replaceChildren(...content(app, () => dialog.close()));
    dialog.showModal();
  };
  document.addEventListener("keydown", (event) => press(event, app, open));
  return open;
}

function press(event, app, help) {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    if (typing) typing.blur();
    else back(app);
    return;
  }
  if (typing && typing.type !== "range" && typing.type !== "checkbox") return;
  const call = actions(app, help)[event.key];
  if (!call) return;
  event.preventDefault();
  call();
}

function actions(app, help) {
  const focus = (id) => () => document.getElementById(id).focus();
  const keys = {
    "/": focus("search"), "?": help, c: focus("card"), v: focus("view"), n: () => step(app, 1), p: () => step(app, -1),
    t: () => document.querySelector("#view [data-twin]")?.click(), u: () => document.querySelector("[data-undo]:not(:disabled)")?.click(),
  };
  views(app).forEach((view, i) => {
    keys[String(i + 1)] = () => {
      app.store.set({ view });
      app.focusView({ view });
    };
  });
  return keys;
}

function step(app, by) {
  const ids = app.book.topics.map((one) => one.id);
  if (!ids.length) return;
  const now = ids.indexOf(app.store.state.topic);
  app.store.set({ topic: ids[(now + by + ids.length) % ids.length] });
}

/** Take back one thing at a time, the narrowest first. */
function back(app) {
  const { state } = app.store;
  const name = ["document", "other", "topic", "word", "theme", "label", "q"].find((one) => state[one] !== null);
  if (name) app.store.set({ [name]: null });
  else if (state.since || state.until) app.store.set({ since: null, until: null });
}

function content(app, close) {
  const list = (rows) => h("dl", { class: "keys" }, rows.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]));
  const { model } = app.book;
  return [
    h("div", { class: "help-head" }, h("h2", {}, "Help"), button("Close", close, { class: "button", autofocus: true })),
    h("p", {}, "Choose a topic, a theme, a word, a label or a span of time anywhere: every view and the card follow. " +
      "The address in the browser holds all of it, so a link shows another person what you see."),
    h("p", {}, `Views: ${views(app).map((view, i) => `${i + 1} ${TITLES[view]}`).join(", ")}.`),
    h("h3", {}, "Keys everywhere"), list(KEYS), h("h3", {}, "Keys inside a view"), list(IN_VIEWS),
    h("p", { class: "note" }, `The page talks only to the server that it came from. ${model.read_only ? FIXED : KEPT}`),
  ];
}
