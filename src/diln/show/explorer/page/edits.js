// Rename, merge, hide, undo: kept beside the model; its numbers never change.
import { button, h } from "app/dom.js";
import { many } from "app/format.js";

/** The buttons of a topic's or a theme's card, and the little form that each opens. */
export function editTools(app, one, kind = "topic") {
  if (app.book.model.read_only) return null;
  const form = h("div", { class: "edit-form", hidden: true });
  const fault = h("p", { class: "error", role: "alert" });
  const send = async (action, sentence) => {
    try {
      await app.edit(action, sentence);
      document.getElementById("card").focus({ preventScroll: true });
    } catch (error) {
      fault.textContent = error.message;
    }
  };
  const open = (content) => {
    form.replaceChildren(content, fault);
    form.hidden = false;
    form.querySelector("input, select")?.focus();
  };
  const close = () => {
    form.hidden = true;
    tools.querySelector("button").focus();
  };
  const what = { [kind]: one.id, ...(kind === "theme" ? { n: app.book.themes.n } : {}) };
  const named = (label) => send({ action: "rename", ...what, label }, label ? `Renamed to ${label}` : "It has its own words as its name again");
  const merged = (other) => send({ action: "merge", keep: one.id, others: [other] }, `Topic ${other} is merged into topic ${one.id}`);
  const rename = () => open(renameForm(one, named, close));
  const merge = () => open(mergeForm(app, one, merged, close));
  const hide = () => send({ action: "hide", topic: one.id }, `Topic ${one.id} is hidden`);
  const tools = h("div", { class: "edit-tools", role: "group", "aria-label": `Change this ${kind}` },
    button("Rename", rename), ...(kind === "topic" ? [button("Merge", merge), button("Hide", hide)] : []), undoButton(app));
  return h("div", { class: "edits" }, tools, form);
}

/** Takes back the last change, whatever it was. */
export function undoButton(app) {
  const undo = async () => {
    try {
      await app.edit({ action: "undo" }, "Undone");
      document.getElementById("card").focus({ preventScroll: true });
    } catch (error) {
      app.announce(error.message);
    }
  };
  return button("Undo", undo, { "data-undo": "", title: "Take back the last rename, merge or hiding (u)", disabled: !app.book.canUndo });
}

function renameForm(one, done, close) {
  const value = one.named === false ? "" : one.label;
  const input = h("input", { type: "text", maxlength: 200, value, placeholder: one.label, "aria-label": "New name" });
  const submit = (event) => {
    event.preventDefault();
    done(input.value.trim());
  };
  return h("form", { class: "row", on: { submit, keydown: (event) => escape(event, close) } }, input,
    h("button", { type: "submit", class: "primary" }, "Save"), button("Cancel", close), h("p", { class: "note" }, "Leave it empty to go back to its words."));
}

function mergeForm(app, one, done, close) {
  const others = app.book.topics.filter((each) => each.id !== one.id);
  const options = others.map((each) => h("option", { value: each.id }, `${each.label} (${each.id})`));
  const choose = h("select", { "aria-label": "Topic to merge into this one" }, options);
  const submit = (event) => {
    event.preventDefault();
    if (choose.value !== "") done(Number(choose.value));
  };
  if (!others.length) return h("p", { class: "note" }, "There is no other topic.");
  return h("form", { class: "row", on: { submit, keydown: (event) => escape(event, close) } }, choose,
    h("button", { type: "submit", class: "primary" }, "Merge"), button("Cancel", close),
    h("p", { class: "note" }, `One of ${many(others.length, "other topic")} becomes part of this one, under this number.`));
}

function escape(event, close) {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  close();
}
