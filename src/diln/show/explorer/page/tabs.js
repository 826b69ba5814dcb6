// The views as links: each has an address of its own.
import { link } from "app/dom.js";
import { VIEWS } from "app/state.js";

export const TITLES = {
  map: "Map", matrix: "Matrix", network: "Network", trends: "Trends", topics: "Topics", documents: "Documents",
  read: "Try a text", training: "Training", compare: "Compare",
};

/** Views that this model has something for; while it is still being fitted, its training alone. */
export function views(app) {
  if (app.book.model.ready === false) return ["training"];
  return VIEWS.filter((view) => view !== "compare" || app.book.model.compare);
}

export function drawTabs(host, app) {
  const held = host.contains(document.activeElement) ? document.activeElement.dataset.view : null;
  const view = views(app).includes(app.store.state.view) ? app.store.state.view : views(app)[0];
  host.replaceChildren(...views(app).map((one) => link(app.store, { view: one }, TITLES[one], {
    class: "tab", "data-view": one, "aria-current": one === view ? "page" : null,
  })));
  const now = host.querySelector("[aria-current]");
  if (now && host.scrollWidth > host.clientWidth) host.scrollLeft = now.offsetLeft - host.clientWidth / 2 + now.offsetWidth / 2;
  if (held) host.querySelector(`[data-view=${held}]`)?.focus();
}
