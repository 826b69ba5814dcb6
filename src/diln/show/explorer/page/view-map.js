// Map: themes, topics and documents where the model puts them.
import { bytes, get } from "app/api.js";
import { h } from "app/dom.js";
import { filters } from "app/filters.js";
import { frame, select, toggleButton } from "app/frame.js";
import { count, many, percent } from "app/format.js";
import { empty } from "app/wait.js";
import { createMap } from "diln/map.js";

const POINTS = 200000; // at most so many documents are sent at once
const LINES = 150;

/** What restricts the points: a topic or a theme does not, for the drawing has its documents stand out among the others. */
const restricting = (state) => ({ ...filters(state), topic: null, other: null, theme: null });

/** Points of documents: places and themes as they come from the server. */
async function points(state) {
  const { buffer, total } = await bytes("map/documents", { ...restricting(state), n: POINTS });
  return { ...unpack(buffer), total };
}

/** Columns x, y, theme, topic of 16 bits each, one document after the other. */
function unpack(buffer) {
  const flat = new Uint16Array(buffer, 0, Math.floor(buffer.byteLength / 8) * 4);
  const length = flat.length / 4;
  const columns = [0, 1, 2, 3].map((at) => Uint16Array.from({ length }, (_, i) => flat[4 * i + at]));
  return { x: columns[0], y: columns[1], theme: columns[2], topic: columns[3], length };
}

export function create(host, app) {
  let shownDocuments = true;
  const withDocuments = toggleButton("Documents", true, (on) => {
    shownDocuments = on;
    documents(app.store.state);
  });
  const withLines = toggleButton("Lines", true, () => view.again());
  const lines = () => withLines.getAttribute("aria-pressed") === "true";

  const documents = async (state) => {
    const drawing = view.drawing();
    if (!drawing || !app.book.has("index")) return;
    const found = shownDocuments ? await points(state).catch(() => null) : null;
    if (view.drawing() !== drawing) return;
    drawing.setDocuments(found);
    host.querySelector(".cut")?.replaceChildren(found ? shownOf(found) : "");
  };

  let [place, open] = [null, null];
  const mark = async ({ document: row }) => {
    if (row === open) return;
    open = row;
    place = row === null ? null : (await app.book.document(row).catch(() => null))?.reading?.location ?? null;
    app.drawChips();
    if (row === open) view.drawing()?.update({ ...app.store.state, weights: app.weights, place });
  };
  const view = frame(host, app, {
    title: "Map",
    extra: () => ({ place }),
    controls: [withLines, ...(app.book.has("index") && app.book.has("locations") ? [withDocuments] : [])],
    key: (state) => [state.themes],
    load: async (state) => {
      const [map, pairs] = await Promise.all([
        get("map", { n: state.themes }),
        app.book.has("pairs") ? get("pairs", { n: LINES }).catch(() => null) : null,
      ]);
      const { topics, themes } = app.book;
      return { map, pairs: lines() ? pairs : null, allPairs: pairs, topics, themes, documents: null };
    },
    make(inner, data) {
      if (!data.topics.length) return inner.append(empty("Every topic is hidden: there is nothing to show.")), null;
      const drawing = createMap(inner, data, {
        onSelect: select(app),
        height: tall,
        placeName: "the open document",
        loadDocuments: (box) => get("map/documents", { ...restricting(app.store.state), ...box }).then((found) => found.documents ?? found),
      });
      queueMicrotask(() => documents(app.store.state));
      return drawing;
    },
    note: (data) => [
      `${data.map.note ?? ""} `.trimStart(), `The picture shows ${percent(data.map.explained)} of what the places tell. `, linesSaid(app, data),
      h("span", { class: "cut" }),
    ],
  });
  let filtered = "";
  return {
    ...view,
    update(state, names) {
      view.update(state, names);
      mark(state);
      const next = JSON.stringify(restricting(state));
      if (next !== filtered && filtered) documents(state);
      filtered = next;
    },
  };
}

const tall = (width) => Math.max(320, Math.min(width * 0.72, innerHeight - 300));

function shownOf({ length, total }) {
  return total > length ? ` Showing ${count(length)} of ${many(total, "document")} as points.` : ` ${many(length, "document")} as points.`;
}

function linesSaid(app, { allPairs }) {
  if (!allPairs) return "";
  const shown = allPairs.positive.length + allPairs.negative.length;
  const all = many(allPairs.n_pairs, "pair");
  if (!app.book.has("sure")) return `Lines: the strongest ${shown} of ${all}; how sure they are is unknown with one chain.`;
  return `Lines: ${shown} of ${many(allPairs.n_sure ?? shown, "sure pair")}.`;
}
