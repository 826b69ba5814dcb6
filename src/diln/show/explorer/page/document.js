// One document: its text with each word's topic, its proportions, its neighbours.
import { button, h, link } from "app/dom.js";
import { about, neighbours, note, section } from "app/parts.js";
import { colouredText } from "app/text.js";

export function openDocument(host, app, found) {
  const title = h("h2", { tabindex: "-1" }, found.title || found.id || `Document ${found.row}`);
  const { reading } = found;
  const text = reading ? colouredText(app, reading) : null;
  const similar = found.similar ?? [];
  host.replaceChildren(
    button("Back to the list", () => app.store.set({ document: null }), { class: "button back" }),
    title,
    h("p", { class: "doc-about" }, about(found), reading?.location ? [" · ", link(app.store, { view: "map" }, "Its place on the map")] : null),
    text ? text.legend : section("Topics", app.book.has("index") ? null : "Not known."),
    text ? text.node : note("The text of this document is not here. To read it: diln explore MODEL --corpus DIR."),
    section("Similar documents", similar.length ? neighbours(app, similar) : note("No similar document is known.")),
  );
  host.addEventListener("follow", () => text?.follow(app.store.state));
  text?.follow(app.store.state);
  title.focus({ preventScroll: true });
  app.announce(`Opened ${title.textContent}`);
  app.drawChips();
}
