// Training: how the fit went, and how it goes while it is still running, with the map moving.
import { address, forget, get } from "app/api.js";
import { bundle, curve } from "app/curve.js";
import { h, table } from "app/dom.js";
import { count, many } from "app/format.js";
import { section, viewHead } from "app/parts.js";
import { empty, Panel } from "app/wait.js";
import { createMap } from "diln/map.js";
import { standalone } from "diln/svg.js";

const CURVES = [["score", "Score"], ["topics", "Topics in use"], ["alpha", "Alpha"], ["beta", "Beta"]];
const AROUND = 9; // sweeps that a point of a line of correlations is the mean of
const REDRAW = 400; // milliseconds between drawings while a fit runs

export function create(host, app) {
  const head = h("p", { class: "note", role: "status" });
  const grid = h("div", { class: "curves" });
  const place = h("div", { class: "live-map" });
  host.replaceChildren(viewHead("Training"), head, place, grid);
  const panel = new Panel(grid, "Reading");
  let rows = [], total = 0, source = null, map = null, timer = 0; // of long fits `rows` are some of a total

  const draw = () => {
    timer = 0;
    if (!rows.length) {
      grid.replaceChildren(empty("Nothing is known of the training of this model."));
      return;
    }
    const pairs = followed(rows);
    grid.replaceChildren(...CURVES.filter(([name]) => rows.some((row) => Number.isFinite(row[name])))
      .map(([name, title]) => section(title, curve(rows.filter((row) => Number.isFinite(row[name])), "sweep", name, title))),
    ...(pairs.length ? [section(`Correlations of ${many(pairs.length, "random pair")} of topics`, bundle(pairs),
      h("p", { class: "note" }, `Means of ${AROUND} sweeps. Solid: above 0 at the end. Dashed: below.`))] : []));
  };
  const soon = () => { timer ||= setTimeout(draw, REDRAW); };
  const moved = (found) => {
    if (map) map.setData(found);
    else {
      const inner = h("div", {});
      place.replaceChildren(h("h3", {}, "The map, while it moves"), inner);
      map = createMap(inner, found, { height: (width) => Math.min(420, Math.max(280, width * 0.45)), wheel: "focused" });
    }
  };
  const listen = () => {
    source = new EventSource(address("training/events", { since: total }));
    source.addEventListener("progress", (event) => {
      const row = JSON.parse(event.data);
      rows.push(row);
      total += 1;
      head.textContent = goingOn(row);
      soon();
    });
    source.addEventListener("map", (event) => moved(JSON.parse(event.data)));
    source.addEventListener("done", (event) => {
      source.close();
      const { note } = JSON.parse(event.data);
      head.textContent = note ? `Not done: ${note}.` : "The fit is done.";
      app.announce(head.textContent);
      forget();
      app.reopen();
    });
    source.onerror = () => { head.textContent = "The connection to the fit is lost; trying again."; };
  };
  panel.show(() => get("training"), (found) => {
    rows = found.rows ?? [];
    total = found.total ?? rows.length;
    head.textContent = told(found);
    if (rows.length || !found.running) draw();
    else grid.replaceChildren();
    if (found.running && found.latest?.map) moved(found.latest);
    if (found.running) listen();
    else if (!found.note && app.book.model.ready === false) app.reopen(); // the fit has ended since the page was opened
  });
  return {
    update() {},
    picture: () => (rows.length ? { svg: () => standalone(grid.querySelector("svg")), table: () => asTable(rows) } : null),
    destroy() {
      clearTimeout(timer);
      source?.close();
      map?.destroy();
      panel.stop();
    },
  };
}

/** The correlations of each pair of topics that is followed, along the sweeps. */
function followed(rows) {
  const lines = new Map();
  for (const { sweep, correlations } of rows) {
    for (const [name, y] of Object.entries(correlations ?? {})) {
      if (!lines.has(name)) lines.set(name, { name: name.replace("-", " and "), points: [] });
      lines.get(name).points.push({ x: sweep, y });
    }
  }
  return [...lines.values()].map(({ name, points }) => ({ name, points: smooth(points) }));
}

/** Running means, of what there is at the ends. */
function smooth(points) {
  const half = (AROUND - 1) / 2;
  return points.map(({ x }, i) => {
    const near = points.slice(Math.max(0, i - half), i + half + 1);
    return { x, y: near.reduce((sum, one) => sum + one.y, 0) / near.length };
  });
}

function goingOn({ sweep, topics, score }) {
  return `Being fitted: sweep ${count(sweep)}, ${many(topics ?? 0, "topic")} in use, score ${score?.toFixed(3) ?? "unknown"}.`;
}

function told({ running, note, total, rows }) {
  if (running) return rows?.length ? goingOn(rows.at(-1)) : "The model is being fitted: the first sweep is under way.";
  return note ? `Not done: ${note}.` : `The fit is done: ${many(total, "sweep")}.`;
}

function asTable(rows) {
  const names = ["sweep", ...CURVES.map(([name]) => name)];
  const pairs = [...new Set(rows.flatMap((row) => Object.keys(row.correlations ?? {})))];
  return table("Training", [...names, ...pairs.map((pair) => `topics ${pair.replace("-", " and ")}`)],
    rows.map((row) => [...names.map((name) => row[name] ?? ""), ...pairs.map((pair) => row.correlations?.[pair] ?? "")]));
}
