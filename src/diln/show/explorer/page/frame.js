// A view that is drawn: its title, its controls, the drawing or its twin as a table, and its states.
import { button, h } from "app/dom.js";
import { Panel } from "app/wait.js";

/**
 * What a drawn view is made of:
 *   title, note(data)   heading, and a sentence under the drawing
 *   key(state)          what the data depend on; they are asked for again when it changes
 *   load(state)         promise of the data
 *   make(host, data)    a drawing with update, resize, destroy, table, svg; or null and a state put into the host
 *   controls            elements beside the title
 */
export function frame(host, app, spec) {
  const stage = h("div", { class: "drawing" });
  const twin = h("div", { class: "table-scroll twin", tabindex: "0", role: "region", "aria-label": `${spec.title}, as a table`, hidden: true });
  const note = h("p", { class: "note under" });
  const toggle = button("As a table", () => swap(twin.hidden), { "data-twin": "", "aria-pressed": "false", disabled: true });
  const panel = new Panel(stage, "Reading");
  let drawing = null, key = null, dead = false;

  host.replaceChildren(
    h("div", { class: "view-head" }, h("h2", {}, spec.title), h("div", { class: "controls" }, ...(spec.controls ?? []), toggle)),
    stage, twin, note);

  const swap = (asTable) => {
    if (asTable) twin.replaceChildren(drawing.table());
    twin.hidden = !asTable;
    stage.hidden = asTable;
    toggle.setAttribute("aria-pressed", String(asTable));
    if (!asTable) drawing?.resize();
    app.announce(asTable ? "Shown as a table" : "Shown as a picture");
  };
  const close = () => {
    drawing?.destroy();
    drawing = null;
    toggle.disabled = true;
  };
  const selected = () => ({ ...app.store.state, weights: app.weights, ...(spec.extra?.() ?? {}) });
  const ask = (state) => panel.show(() => spec.load(state), (data) => {
    if (dead) return;
    close();
    stage.replaceChildren();
    const inner = h("div", {});
    stage.append(inner);
    drawing = spec.make(inner, data);
    toggle.disabled = drawing === null;
    note.replaceChildren(...[spec.note?.(data) ?? ""].flat());
    drawing?.update(selected());
    if (!twin.hidden && drawing) twin.replaceChildren(drawing.table());
  }, { calm: true });

  return {
    update(state) {
      const next = JSON.stringify(spec.key?.(state) ?? "");
      if (next !== key) {
        key = next;
        ask(state);
      } else drawing?.update(selected());
    },
    again: () => ask(app.store.state),
    drawing: () => drawing,
    picture: () => drawing && { svg: () => drawing.svg(), table: () => drawing.table() },
    destroy() {
      dead = true;
      panel.stop();
      close();
    },
  };
}

/** A selection that a drawing asks for, as a change of the state: a pair becomes a topic and another. */
export function select(app) {
  return (partial) => {
    const { pair, ...change } = partial;
    if (pair) {
      const topic = change.topic ?? pair[0];
      Object.assign(change, { topic, other: pair[0] === topic ? pair[1] : pair[0] });
    } else if ("topic" in change) change.other = null;
    app.store.set(change);
  };
}

/** A switch with a text. */
export function toggleButton(text, on, flip) {
  const node = button(text, () => {
    const next = node.getAttribute("aria-pressed") !== "true";
    node.setAttribute("aria-pressed", String(next));
    flip(next);
  }, { "aria-pressed": String(on) });
  return node;
}

/** A choice among a few values. */
export function choice(label, options, value, take) {
  return h("label", { class: "choice" }, h("span", {}, label),
    h("select", { on: { change: (event) => take(event.target.value) } },
      options.map(([key, text]) => h("option", { value: key, ...(key === value ? { selected: true } : {}) }, text))));
}
