// The map of themes, topics and documents, where the model puts them.
//
//   createMap(host, data, options) -> {update, resize, destroy, table, svg, setData, setDocuments, zoomTo}
//   data    {map: TopicMap, topics: [TopicInfo], themes: Themes, pairs: Correlations or null,
//            documents: {x, y, theme, topic, row?} or null: Uint16Array (0..65535 is -1..1) or Float32Array (-1..1)}
//   options onSelect(partial)   {topic} | {theme} | {document: row} | {topic, pair: [first, second]} | {topic: null, theme: null}
//           onHover(partial)    {topic} | {theme} | {document: row} | null
//           loadDocuments({x0, y0, x1, y1, n}) -> promise of [{row, title, x, y, theme, topic}]: documents in view,
//                               asked for when one has zoomed in deep
//           height              pixels, or a function of the width; legend: false leaves the legend out
//           wheel               "always" (default), or "focused": a wheel zooms only after a click in the map,
//                               so that a long page still scrolls
//           gpu                 false draws documents without WebGL
//           place               [x, y], a place to mark (that of a new text), and placeName, what to call it
//   update(state)  {topic, theme, word, hover: {topic}, place, weights (see view.js)}: what is emphasised
//   setData(data)  new positions or sizes; topics move there smoothly (training)
//   setDocuments(documents)  points to show, or null
//   zoomTo({topic} | {theme} | null)  moves there; null shows all
//   Keys: arrows go from topic to topic, Enter selects, Escape clears, + - 0 zoom, Shift with arrows moves the map.

import { caption, captions } from "diln/captions.js";
import { themeColour } from "diln/colour.js";
import { signedLegend, themeLegend } from "diln/legend.js";
import { joins, nearest, openLine } from "diln/lines.js";
import { animate, openZoom, zoomButtons } from "diln/panzoom.js";
import { fitBox, layout, mapSummary, mapTable, mapTip, nextTopic, partners } from "diln/places.js";
import { openPoints } from "diln/points.js";
import { clamp, percent } from "diln/scale.js";
import { el, set, standalone } from "diln/svg.js";
import { belongs, openStage } from "diln/view.js";

const DEEP = 4; // zoom from which documents are asked for one by one
const ASKED = 150; // documents asked for at once
const LINES = 24; // strongest pairs of each sign that are drawn when nothing is selected
const COVER = 0.1; // share of the stage that all topics' circles cover

export function createMap(host, data, options = {}) {
  let scene = layout(data);
  let state = {};
  let cursor = null; // the topic that keys have come to, or that the pointer is on
  let nodes = null;
  let fitted = null;
  let rows = [];
  let boxes = []; // where theme labels are, for clicks
  let asked = ""; // which documents in view were asked for last
  let wide = null; // where most documents lie, as far as any were shown
  let stopMove = () => {};
  let waiting = 0;

  const tall = options.height ?? ((width) => (width < 560 ? clamp(width * 1.1, 300, 520)
    : clamp(width * 0.68, 380, 680)));
  const stage = openStage(host, { kind: "map", height: tall, draw: resized, key });
  const points = openPoints(stage.node, { gpu: options.gpu !== false });
  const svg = el("svg", { "aria-hidden": "true" });
  svg.style.cssText = "position:absolute;left:0;top:0";
  stage.node.append(svg);
  const zoom = openZoom(stage.node, { size: () => stage, wheel: options.wheel, onChange: soon, onTap: tapped });
  stage.node.append(zoomButtons(zoom));
  stage.node.addEventListener("pointermove", hovered);
  stage.node.addEventListener("pointerleave", () => hover(null));

  // ---- building: one element for each thing, moved from then on

  function rebuild() {
    stage.label(mapSummary(scene, data.map));
    nodes = {
      areas: scene.themes.map((theme) => el("ellipse", { fill: themeColour(theme.id), stroke: themeColour(theme.id) })),
      origin: el("path", { stroke: "var(--soft)", "stroke-width": 1.2, fill: "none" }),
      lines: scene.pairs.map(openLine),
      circles: scene.topics.map((topic) => el("circle", { fill: themeColour(topic.theme), stroke: "var(--card)" })),
      documents: el("g"),
      place: el("path", { stroke: "var(--ink)", "stroke-width": 2.4, fill: "var(--mark)" }),
      labels: el("g"),
    };
    svg.replaceChildren(
      el("g", {}, ...nodes.areas), nodes.origin, el("g", {}, ...nodes.lines.flatMap((one) => one.nodes)),
      el("g", {}, ...[...nodes.circles]), nodes.documents, nodes.place, nodes.labels,
    );
    legend();
    resized();
  }

  function legend() {
    if (options.legend === false) return;
    stage.below.replaceChildren(
      themeLegend(scene.themes, state.theme, (theme) => options.onSelect?.({ theme, topic: null })),
      ...(scene.pairs.length ? [signedLegend(scene.pairs)] : []),
    );
  }

  // ---- places

  const radiusOf = (topic) => Math.max(1.6, Math.sqrt(topic.share) * fitted.unit * clamp(zoom.k, 0.6, 40) ** 0.42);
  const flat = (x, y) => [stage.width / 2 + fitted.s * (x - fitted.cx), stage.height / 2 - fitted.s * (y - fitted.cy)];
  const place = (x, y) => {
    const [px, py] = flat(x, y);
    return [zoom.k * px + zoom.x, zoom.k * py + zoom.y];
  };
  const back = (px, py) => [
    fitted.cx + ((px - zoom.x) / zoom.k - stage.width / 2) / fitted.s, fitted.cy - (
      (py - zoom.y) / zoom.k - stage.height / 2) / fitted.s,
  ];

  function resized() {
    stage.measure();
    stage.empty(scene.topics.length === 0 ? "There are no topics to show." : null);
    if (scene.topics.length === 0) return;
    fitted = fitBox(scene, stage.width, stage.height, wide);
    const most = Math.max(...scene.topics.map((topic) => topic.share), 1e-12);
    fitted.unit = Math.min(Math.sqrt((COVER * stage.width * stage.height) / Math.PI),
      (0.085 * Math.min(stage.width, stage.height)) / Math.sqrt(most));
    set(svg, { width: stage.width, height: stage.height, viewBox: `0 0 ${stage.width} ${stage.height}` });
    draw();
  }

  function soon() {
    if (waiting) return;
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      draw();
      if (!zoom.moving) ask();
    });
  }

  // ---- drawing

  function lit(topic) {
    if ((state.topic ?? null) !== null) return topic.id === state.topic || linked(topic.id);
    if ((state.theme ?? null) !== null) return topic.theme === state.theme;
    if (state.weights) return belongs(state, topic.id);
    if (state.word) return topic.words?.includes(state.word) || topic.telling?.includes(state.word);
    return true;
  }
  const linked = (id) => scene.pairs.some((pair) =>
    (pair.first === id && pair.second === state.topic) || (pair.second === id && pair.first === state.topic));
  const home = () => state.theme ?? scene.byId.get(state.topic)?.theme ?? null; // the theme of what is selected
  const chosen = () => (state.topic ?? null) !== null || (state.theme ?? null) !== null
    || Boolean(state.word || state.weights);

  function draw() {
    if (!fitted || scene.topics.length === 0) return;
    const { k } = zoom;
    drawPoints();
    scene.themes.forEach((theme, at) => {
      const [x, y] = place(theme.x, theme.y);
      const fade = clamp(1.5 - k / 3, 0.15, 1) * ((home() ?? theme.id) === theme.id ? 1 : 0.35);
      set(nodes.areas[at], {
        rx: theme.a * fitted.s * k, ry: theme.b * fitted.s * k, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${((-theme.turn * 180) / Math.PI).toFixed(1)})`,
        "fill-opacity": 0.1 * fade, "stroke-opacity": 0.35 * fade,
      });
    });
    const [ox, oy] = place(...scene.origin);
    set(nodes.origin, { d: `M${ox - 7} ${oy}h14M${ox} ${oy - 7}v14` });
    drawPlace();
    drawLines();
    scene.topics.forEach((topic, at) => {
      const [x, y] = place(topic.x, topic.y);
      const r = radiusOf(topic);
      const seen = x > -r && y > -r && x < stage.width + r && y < stage.height + r;
      nodes.circles[at].style.display = seen ? "" : "none";
      if (!seen) return;
      const mine = topic.id === state.topic;
      const pointed = topic.id === cursor || topic.id === state.hover?.topic;
      set(nodes.circles[at], {
        cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1), "fill-opacity": (lit(topic) ? 0.82 : 0.18) * (k > DEEP
          ? clamp(DEEP / k, 0.25, 1) : 1),
        stroke: mine || pointed ? "var(--ink)" : k > DEEP ? themeColour(topic.theme)
          : "var(--card)", "stroke-width": mine ? 3 : pointed ? 2 : 1,
      });
    });
    const front = nodes.circles[scene.topics.findIndex((topic) => topic.id === (state.topic ?? cursor))];
    if (front && front.nextSibling) front.parentNode.append(front);
    drawLabels();
  }

  function drawPoints() {
    const { k } = zoom;
    const s = fitted.s * k;
    const [bx, by] = place(0, 0);
    const few = clamp(4.4 - 0.6 * Math.log10(Math.max(10, points.n)), 1.2, 3.6); // few points are larger
    const alpha = clamp(Math.sqrt(40000 / Math.max(1, points.n)) * (0.3 + 0.15 * k), 0.06,
      clamp(0.4 + 0.12 * k, 0.5, 0.85));
    points.draw({
      ax: s, bx, ay: -s, by, width: stage.width, height: stage.height, size: clamp(few + 0.75 * Math.log2(Math.max(1,
        k)), 1.2, 5),
      alpha, theme: state.theme, topic: state.topic, moving: zoom.moving,
    });
  }

  const marked = () => state.place ?? options.place ?? null;
  // A diamond, which nothing else on the map is.
  function drawPlace() {
    nodes.place.style.display = marked() ? "" : "none";
    if (!marked()) return;
    const [x, y] = place(...marked());
    set(nodes.place, { d: `M${x} ${y - 9}l9 9l-9 9l-9 -9z` });
  }

  function drawLines() {
    const shown = { 1: 0, [-1]: 0 };
    const here = state.topic ?? cursor;
    for (const one of nodes.lines) {
      const { pair } = one;
      const sign = Math.sign(pair.log_lift) || 1;
      const mine = (here ?? null) !== null && (pair.first === here || pair.second === here);
      const rest = (state.topic ?? null) === null && shown[sign]++ < LINES;
      const [first, second] = [scene.byId.get(pair.first), scene.byId.get(pair.second)];
      if (!mine && !rest) one.hide();
      else one.place(place(first.x, first.y), place(second.x, second.y), radiusOf(first), radiusOf(second),
        mine ? (scene.byId.has(state.other) && !joins(pair, here, state.other) ? 0.3 : 0.95)
        : (here ?? null) !== null || chosen() ? 0.1 : 0.28);
    }
  }

  function drawLabels() {
    const deep = zoom.k >= DEEP ? rows : [];
    const placed = captions({ scene, state, cursor, rows: deep, k: zoom.k, scale: fitted.s * zoom.k, stage, place,
      radiusOf, lit, chosen: chosen(), mark: marked(), markName: options.placeName, deep: DEEP });
    boxes = placed.filter((one) => one.theme);
    nodes.labels.replaceChildren(...placed.map((one) => caption(one, home())));
    nodes.documents.replaceChildren(...deep.map((row) => {
      const [x, y] = place(row.x, row.y);
      return el("circle", { cx: x, cy: y, r: 3.5, fill: themeColour(row.theme), stroke: "var(--card)",
        "stroke-width": 1 });
    }));
  }

  // ---- documents

  // The map widens for documents that lie outside, and does not shrink again when others are shown.
  function show(documents) {
    points.set(documents);
    const box = points.spread();
    if (box) wide = wide ? [Math.min(wide[0], box[0]), Math.min(wide[1], box[1]), Math.max(wide[2], box[2]),
      Math.max(wide[3], box[3])] : box;
  }

  // Asked again only when the view or what is selected has changed.
  function ask() {
    if (!options.loadDocuments || zoom.k < DEEP) {
      rows = [];
      asked = "";
      return;
    }
    const [x0, y1] = back(0, 0);
    const [x1, y0] = back(stage.width, stage.height);
    const { topic, theme, word, label, since, until } = state;
    const mine = JSON.stringify([x0, y0, x1, y1, topic, theme, word, label, since, until]);
    if (mine === asked) return;
    asked = mine;
    Promise.resolve(options.loadDocuments({ x0, y0, x1, y1, n: ASKED })).then((found) => {
      if (mine !== asked) return;
      rows = (found ?? []).filter((row) => Number.isFinite(row.x) && Number.isFinite(row.y));
      soon();
    }).catch(() => { asked = ""; });
  }

  // ---- pointer and keys

  function find(px, py) {
    let best = null;
    for (const topic of scene.topics) {
      const [x, y] = place(topic.x, topic.y);
      const r = radiusOf(topic);
      if (Math.hypot(x - px, y - py) <= Math.max(r, 7) && (!best || topic.share < best.share)) best = topic;
    }
    if (best && zoom.k < DEEP) return { topic: best.id };
    const near = zoom.k >= DEEP ? rows.find((row) => { const [x, y] = place(row.x, row.y); return Math.hypot(x - px,
      y - py) < 7; }) : null;
    if (near) return { document: near.row, row: near };
    if (best && Math.hypot(...place(best.x, best.y).map((value, at) =>
      value - [px, py][at])) < 12) return { topic: best.id };
    const label = boxes.find((one) => px >= one.left && px <= one.left + one.wide && py >= one.top
      && py <= one.top + one.tall);
    if (label) return { theme: label.theme.id };
    if (zoom.k >= 2 && points.n) {
      const [u, v] = back(px, py);
      const reach = 6 / (fitted.s * zoom.k);
      const point = points.pick(u, v, reach, reach);
      if (point) return point.row === null ? { topic: point.topic, point } : { document: point.row, point };
    }
    if (best) return { topic: best.id };
    const pair = nearest(nodes.lines, px, py);
    return pair && { pair };
  }

  let told = null;
  function hover(found, x, y) {
    const plain = found && !found.point && !found.pair ? (({ row, ...rest }) => rest)(found) : null;
    const same = JSON.stringify(plain) === JSON.stringify(told);
    told = plain;
    const text = mapTip(scene, state, found);
    stage.tip(text, x, y);
    stage.node.style.cursor = found && !found.point ? "pointer" : "";
    if (same) return;
    cursor = plain?.topic ?? null;
    options.onHover?.(plain);
    soon();
  }

  function hovered(event) {
    if (event.buttons || event.target.closest("button")) return;
    const box = stage.node.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (scene.topics.length) hover(find(x, y), x, y);
  }

  function tapped(event, x, y) {
    if (scene.topics.length === 0) return;
    const found = find(x, y);
    if (!found) options.onSelect?.({ topic: null, theme: null });
    else if (found.pair) options.onSelect?.({ topic: found.pair.first, pair: [found.pair.first, found.pair.second] });
    else if ((found.document ?? null) !== null) options.onSelect?.({ document: found.document });
    else if ((found.theme ?? null) !== null) options.onSelect?.({ theme: found.theme, topic: null });
    else if ((found.topic ?? null) !== null) options.onSelect?.({ topic: found.topic });
  }

  function key(event) {
    if (zoom.key(event)) return true;
    if (event.key === "Escape") {
      cursor = null;
      stage.tip(null);
      options.onSelect?.({ topic: null, theme: null });
      return true;
    }
    if (event.key === "Enter" || event.key === " ") {
      if (cursor === null) return false;
      options.onSelect?.({ topic: cursor });
      return true;
    }
    const next = nextTopic(scene.topics, scene.byId.get(cursor ?? state.topic), event.key);
    if (!next) return false;
    cursor = next.id;
    told = { topic: cursor };
    const [x, y] = place(next.x, next.y);
    if (x < 20 || y < 20 || x > stage.width - 20 || y > stage.height - 20) zoom.centre(...flat(next.x, next.y), zoom.k);
    const near = [...partners(scene, next.id, 1).slice(0, 2).map(({ topic }) => `goes with ${topic.label}`),
      ...partners(scene, next.id, -1).slice(0, 2).map(({ topic }) => `avoids ${topic.label}`)];
    stage.say([`${next.label}, ${percent(next.share)}`, ...near].join("; "));
    stage.tip(mapTip(scene, state, { topic: next.id }), clamp(x, 0, stage.width),
      clamp(y - radiusOf(next), 0, stage.height));
    options.onHover?.({ topic: next.id });
    soon();
    return true;
  }

  // ---- the outside

  function setData(next) {
    const old = new Map(scene.topics.map((topic) => [topic.id, topic]));
    const same = data.topics === next.topics && scene.topics.length === (next.map?.points?.length ?? 0);
    data = { ...next };
    const goal = layout(next);
    const starts = goal.topics.map((topic) => ({ ...(old.get(topic.id) ?? { x: topic.x, y: topic.y, share: 0 }) }));
    const ends = goal.topics.map((topic) => ({ x: topic.x, y: topic.y, share: topic.share }));
    scene = goal;
    if (next.documents !== undefined) show(next.documents);
    stopMove();
    rebuild();
    if (scene.topics.length === 0 || (same && starts.length === 0)) return;
    stopMove = animate(options.duration ?? 700, (t) => {
      scene.topics.forEach((topic, at) => {
        for (const part of ["x", "y", "share"]) topic[part] = starts[at][part]
          + (ends[at][part] - starts[at][part]) * t;
      });
      draw();
    });
  }

  function zoomTo(goal) {
    const topic = goal && (goal.topic ?? null) !== null ? scene.byId.get(goal.topic) : null;
    const theme = goal && (goal.theme ?? null) !== null ? scene.themes.find((one) => one.id === goal.theme) : null;
    if (topic) zoom.centre(...flat(topic.x, topic.y), Math.max(zoom.k, 3));
    else if (theme) zoom.centre(...flat(theme.x, theme.y),
      clamp((0.4 * Math.min(stage.width, stage.height)) / (theme.a * fitted.s), 1, 12));
    else zoom.reset();
  }

  function picture() {
    if (scene.topics.length === 0) return null;
    const copy = standalone(svg);
    if (points.n) {
      const [[x0, y1], [x1, y0]] = [back(0, 0), back(stage.width, stage.height)];
      const byTheme = new Map();
      for (const point of points.sample(6000, [x0, y0, x1, y1])) {
        const [x, y] = place(point.x, point.y);
        byTheme.set(point.theme, `${byTheme.get(point.theme) ?? ""}M${x.toFixed(1)} ${y.toFixed(1)}h0`);
      }
      const paths = [...byTheme].map(([theme, d]) =>
        el("path", { d, stroke: themeColour(theme), "stroke-width": 2, "stroke-linecap": "round", "stroke-opacity": 0.4,
        fill: "none" }));
      copy.firstChild.after(standalone(el("svg", { width: 1, height: 1 }, el("g", {}, ...paths))).lastChild);
    }
    return copy;
  }

  if (data.documents) show(data.documents);
  rebuild();

  return {
    update(next) {
      const legendChanged = (state.theme ?? null) !== (next.theme ?? null);
      state = next;
      if (legendChanged) legend();
      soon();
    },
    resize: resized,
    destroy() {
      cancelAnimationFrame(waiting);
      stopMove();
      zoom.close();
      points.close();
      stage.close();
    },
    table: () => mapTable(scene), svg: picture, setData, zoomTo,
    setDocuments(documents) {
      show(documents);
      resized();
    },
    get points() { return points; },
  };
}
