// Rename, merge, hide, undo: kept beside the model; its numbers never change.
import { button, h } from "app/dom.js";
import { many } from "app/format.js";
import { topicField } from "app/topic-field.js";

/** The buttons of a topic's or a theme's card, and the little form that each opens. */
export function editTools(app, one, kind = "topic") {
  if (app.book.model.read_only) return null;
  const form = h("div", { class: "edit-form", hidden: true });
  const fault = h("p", { class: "error", role: "alert" });
  const send = async (action, sentence) => {
    fault.textContent = "";
    try {
      await app.edit(action, sentence);
      document.getElementById("card").focus({ preventScroll: true });
    } catch (error) {
      if (!form.hidden) form.append(fault);
      fault.textContent = error.message;
    }
  };
  const open = (content) => {
    fault.textContent = "";
    form.replaceChildren(content, fault);
    form.hidden = false;
    form.querySelector("input")?.focus();
  };
  const close = () => {
    form.hidden = true;
    tools.querySelector("button").focus();
  };
  const what = { [kind]: one.id, ...(kind === "theme" ? { n: app.book.themes.n } : {}) };
  const named = (label) => send({ action: "rename", ...what, label }, label ? `Renamed to ${label}` : "It has its own words as its name again");
  const merged = (other) => send({ action: "merge", keep: one.id, others: [other] }, `${app.book.name(other)} (${other}) is merged into this topic`);
  const rename = () => open(renameForm(one, named, close));
  const merge = () => open(mergeForm(app, one, merged, close));
  const hidden = app.book.hidden.includes(one.id);
  const hide = () => send({ action: "hide", topic: one.id }, `${one.label} (${one.id}) is hidden`);
  const show = () => send({ action: "show", topic: one.id }, `${one.label} (${one.id}) is shown again`);
  const tools = h("div", { class: "edit-tools", role: "group", "aria-label": `Change this ${kind}` },
    button("Rename", rename),
    ...(kind === "topic" ? [button("Merge", merge), hidden ? button("Show", show) : button("Hide", hide)] : []),
    undoButton(app));
  return h("div", { class: "edits" }, tools, form);
}

/** Takes back the last change, whatever it was. */
export function undoButton(app) {
  const undo = () => app.edit({ action: "undo" }, "Undone").then(
    () => document.getElementById("card").focus({ preventScroll: true }),
    () => {}, // which the line at the bottom says
  );
  return button("Undo", undo, { "data-undo": "", title: "Take back the last rename, merge or hiding (u)", disabled: !app.book.canUndo });
}

/** Whether edits can be sent: buttons and fields of edits wait for the one that is being saved. */
export function hold(saving) {
  for (const node of document.querySelectorAll(".edits button, .edits input, [data-undo], [data-show]")) {
    if (saving) node.dataset.held = String(node.disabled);
    if (saving || node.dataset.held) node.disabled = saving || node.dataset.held === "true";
    if (!saving) delete node.dataset.held;
  }
}

/** The line at the bottom that says that a change is being saved, that it is, or why it is not. */
export function savingLine(host) {
  let timer = 0;
  const line = h("p", { class: "saving", role: "status", hidden: true });
  host.append(line);
  const say = (text, kind) => {
    clearTimeout(timer);
    line.dataset.kind = kind;
    line.replaceChildren(text, kind === "fault" ? button("Close", () => { line.hidden = true; }, { class: "plain" }) : "");
    line.hidden = false;
  };
  return {
    begins: () => say("Saving …", "busy"),
    ends: (sentence) => {
      say(`Saved: ${sentence}.`, "done");
      timer = setTimeout(() => { line.hidden = true; }, 2500);
    },
    fails: (sentence) => say(sentence, "fault"),
  };
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
  const others = Object.keys(app.book.names).map(Number).filter((id) => id !== one.id);
  if (!others.length) return h("p", { class: "note" }, "There is no other topic.");
  const merge = h("button", { type: "submit", class: "primary", disabled: true }, "Merge");
  const field = topicField(app, others, one, (id) => { merge.disabled = id === null; });
  const submit = (event) => {
    event.preventDefault();
    if (field.chosen() !== null) done(field.chosen());
  };
  return h("form", { class: "row", on: { submit, keydown: (event) => escape(event, close) } }, field.node, merge, button("Cancel", close),
    h("p", { class: "note" }, `Type words, a name or a number to find one of ${many(others.length, "other topic")}. It becomes part of this one, under this number.`));
}

function escape(event, close) {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  close();
}
