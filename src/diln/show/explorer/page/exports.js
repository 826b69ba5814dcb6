// Export: any view as SVG, PNG or CSV, and what is selected as a list of documents.
import { address } from "app/api.js";
import { button, h } from "app/dom.js";
import { filters } from "app/filters.js";
import { saveCSV, savePNG, saveSVG } from "diln/export.js";

/** The menu in the header: a disclosure with what the view on show can give. */
export function exportMenu(app) {
  const list = h("div", { id: "exports", class: "menu", role: "group", "aria-label": "Export", hidden: true });
  const toggle = button("Export", () => (list.hidden ? open() : close()), { class: "button", "aria-expanded": "false", "aria-controls": "exports" });
  const close = () => {
    list.hidden = true;
    toggle.setAttribute("aria-expanded", "false");
  };
  const open = () => {
    list.replaceChildren(...choices(app, close));
    list.hidden = false;
    toggle.setAttribute("aria-expanded", "true");
    list.querySelector("button, a")?.focus();
  };
  const node = h("div", { class: "menu-host", on: {
    focusout: (event) => event.relatedTarget && !node.contains(event.relatedTarget) && close(),
    keydown: (event) => {
      if (event.key !== "Escape" || list.hidden) return;
      close();
      toggle.focus();
      event.stopPropagation();
    },
  } }, toggle, list);
  document.addEventListener("pointerdown", (event) => node.contains(event.target) || close());
  return node;
}

function choices(app, close) {
  const view = app.current?.picture?.() ?? null;
  const name = `diln-${app.store.state.view}`;
  const save = (call) => async () => {
    close();
    try {
      await call();
      app.announce("Saved");
    } catch (error) {
      app.announce(`Could not be saved: ${error.message}`);
    }
  };
  const rows = [];
  if (view?.svg) {
    rows.push(button("This view as SVG", save(() => saveSVG(view, name)), { "data-export": "svg" }));
    rows.push(button("This view as PNG", save(() => savePNG(view, name)), { "data-export": "png" }));
  }
  if (view?.table) rows.push(button("This view as CSV", save(() => saveCSV(view, name)), { "data-export": "csv" }));
  if (app.book.has("index") || app.book.has("text")) rows.push(documentsLink(app, close));
  return rows.length ? rows : [h("p", { class: "note" }, "This view has nothing to export.")];
}

/** A download of all documents that are selected, not only of the page of the list that is shown. */
export function documentsLink(app, done = () => {}) {
  const href = address("export/documents.csv", filters(app.store.state));
  return h("a", { href, download: "documents.csv", class: "button", "data-export": "documents", on: { click: done } }, "Selected documents as CSV");
}
