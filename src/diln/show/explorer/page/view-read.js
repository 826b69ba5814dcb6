// Try a text: what a text of one's own is about, word by word, beside the corpus.
import { get, post } from "app/api.js";
import { button, h, later } from "app/dom.js";
import { count } from "app/format.js";
import { neighbours, note, section, viewHead } from "app/parts.js";
import { colouredText } from "app/text.js";
import { empty, failure } from "app/wait.js";
import { createMap } from "diln/map.js";
import { select } from "app/frame.js";

const LONGEST = 900000; // bytes that the server takes
let kept = ""; // the text stays when one looks elsewhere; it is not in the address

export function create(host, app) {
  const area = h("textarea", {
    id: "text", rows: 7, placeholder: "Paste a text here, or drop a file.", "aria-label": "Your text", spellcheck: "false",
  });
  const file = h("input", {
    type: "file", accept: "text/*,.md,.csv,.json,.html,.tex", class: "hidden-text", tabindex: "-1", "aria-label": "A text file",
    on: { change: () => take(file.files[0]) },
  });
  const out = h("div", { class: "read-out", "aria-live": "off" });
  const took = h("span", { class: "note", role: "status" });
  const clear = button("Clear", () => {
    area.value = "";
    ask();
    area.focus();
  });
  host.replaceChildren(
    viewHead("Try a text"),
    h("div", { class: "drop" }, area, h("div", { class: "controls" }, button("Open a file", () => file.click()), clear, took, file)),
    out);
  area.value = kept;
  let waiting = null, text = null, map = null;

  const drawn = (found, ms) => {
    map?.destroy();
    text = colouredText(app, found);
    text.follow(app.store.state);
    const place = h("div", {});
    const near = found.neighbours.length ? neighbours(app, found.neighbours) : note("No document is near, or the documents are not here.");
    out.replaceChildren(h("div", { class: "read-grid" },
      h("div", {}, text.legend, text.node),
      h("div", {}, found.location ? section("Its place on the map", place) : null,
        section("Nearest documents", near))));
    took.textContent = `Read in ${count(Math.round(ms))} ms`;
    if (found.location) showPlace(place, app, found.location).then((drawing) => { map = drawing; });
  };

  const ask = async () => {
    kept = area.value;
    waiting?.abort();
    waiting = new AbortController();
    if (!kept.trim()) {
      took.textContent = "";
      out.replaceChildren(empty("Its topics, its words in their colours, its place on the map and the nearest documents will be here."));
      return;
    }
    const begun = performance.now();
    took.textContent = "Reading …";
    try {
      const found = await post("read", { text: kept }, waiting.signal);
      if (!found.n_known) {
        took.textContent = "";
        out.replaceChildren(empty("The model knows no word of this text, so it cannot tell what it is about."));
        return;
      }
      drawn(found, performance.now() - begun);
    } catch (error) {
      if (error.name === "AbortError") return;
      took.textContent = "";
      out.replaceChildren(failure(error, ask));
    }
  };

  const take = async (one) => {
    if (!one) return;
    const read = one.size > LONGEST ? null : await one.text();
    if (read === null || read.includes("\u0000")) {
      const large = `The file has ${count(one.size)} bytes; at most ${count(LONGEST)} can be read here.`;
      out.replaceChildren(failure(new Error(read === null ? large : "This is not a file of text.")));
      return;
    }
    area.value = read;
    ask();
  };

  area.addEventListener("input", later(ask, 200));
  area.addEventListener("paste", () => setTimeout(ask));
  const over = (event) => {
    event.preventDefault();
    host.classList.add("dropping");
  };
  for (const type of ["dragover", "dragenter"]) host.addEventListener(type, over);
  host.addEventListener("dragleave", () => host.classList.remove("dropping"));
  host.addEventListener("drop", (event) => {
    event.preventDefault();
    host.classList.remove("dropping");
    const dropped = event.dataTransfer.files[0];
    if (dropped) return take(dropped);
    area.value = event.dataTransfer.getData("text");
    return ask();
  });
  ask();
  return {
    update: (state) => {
      text?.follow(state);
      map?.update(state);
    },
    picture: () => map && { svg: () => map.svg(), table: () => map.table() },
    destroy() {
      waiting?.abort();
      map?.destroy();
    },
  };
}

/** The map with the text's place marked. */
async function showPlace(host, app, location) {
  try {
    const found = await get("map", { n: app.store.state.themes });
    const data = { map: found, topics: app.book.topics, themes: app.book.themes, pairs: null, documents: null };
    const options = { onSelect: select(app), height: 320, legend: false, place: location, wheel: "focused" };
    const drawing = createMap(host, data, options);
    drawing.update({ ...app.store.state, place: location });
    return drawing;
  } catch (error) {
    host.replaceChildren(failure(error));
    return null;
  }
}
