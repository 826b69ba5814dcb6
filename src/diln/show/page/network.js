// Signed network of topics: attracting pairs by solid lines, avoiding ones by dashed lines with a bar.
//
//   createNetwork(host, data, options) -> {update, resize, destroy, table, svg, setData}
//   data    {topics: [TopicInfo], pairs: Correlations, themes: Themes, map?: TopicMap (where the layout starts)}
//   options onSelect({topic} | {topic, pair: [first, second]} | {topic: null, theme: null}), onHover({topic} | null), height, legend, wheel (see map.js),
//           unsure: true also shows pairs that are not sure
//   update(state)  {topic, other, theme, word, hover: {topic}, weights (see view.js)}; other: the second topic of a pair
//   Keys: arrows go from topic to topic, Enter selects, Escape clears, + - 0 zoom, Shift with arrows moves.

import { themeColour, themeMark } from "diln/colour.js";
import { settle } from "diln/force.js";
import { placeLabels } from "diln/labels.js";
import { signedLegend, themeLegend } from "diln/legend.js";
import { joins, nearest, openLine } from "diln/lines.js";
import { openZoom, zoomButtons } from "diln/panzoom.js";
import { nextTopic } from "diln/places.js";
import { clamp, count, digits, pairWords, percent } from "diln/scale.js";
import { el, fit, html, measure, set, standalone, table } from "diln/svg.js";
import { belongs, openStage, pairList, themeList, topicsById } from "diln/view.js";

const LISTED = 60; // topics without a line that are listed at most

export function createNetwork(host, data, options = {}) {
  let known;
  let nodes = []; // topics that have a line, with u, v in the unit square
  let alone = [];
  let links = [];
  let byId = new Map();
  let state = {};
  let cursor = null;
  let waiting = 0;
  const stage = openStage(host, { kind: "network",
    height: options.height ?? ((width) => (width < 560 ? clamp(width * 1.2, 320, 560)
    : clamp(width * 0.7, 400, 720))), draw: redraw, key });
  const svg = el("svg", { "aria-hidden": "true" });
  stage.node.append(svg);
  const zoom = openZoom(stage.node, { size: () => stage, most: 30, wheel: options.wheel, onChange: soon, onTap: tapped,
    onDrag: dragged });
  stage.node.append(zoomButtons(zoom));
  stage.node.addEventListener("pointermove", hovered);
  stage.node.addEventListener("pointerleave", () => hover(null));

  function load() {
    known = topicsById(data.topics, data.themes);
    const pairs = pairList(data.pairs, options.unsure).filter((pair) =>
      known.has(pair.first) && known.has(pair.second));
    const used = new Set(pairs.flatMap((pair) => [pair.first, pair.second]));
    const spots = new Map(((data.map && data.map.points) || []).map((point) => [point.id, point]));
    const topics = [...known.values()].sort((one, two) => two.share - one.share);
    alone = topics.filter((topic) => !used.has(topic.id));
    nodes = topics.filter((topic) => used.has(topic.id));
    const place = new Map(nodes.map((topic, at) => [topic.id, at]));
    const begin = nodes.map((topic, at) => spots.get(topic.id)
      ?? { x: Math.cos(at * 2.399963), y: Math.sin(at * 2.399963) });
    const found = settle(begin, pairs.map((pair) =>
      ({ a: place.get(pair.first), b: place.get(pair.second), strength: pair.log_lift })));
    nodes = nodes.map((topic, at) => ({ ...topic, u: found[at][0], v: found[at][1] }));
    byId = new Map(nodes.map((topic) => [topic.id, topic]));
    links = pairs.map(openLine);
    cursor = null;
  }

  function redraw() {
    stage.measure();
    const nothing = nodes.length === 0;
    stage.empty(nothing ? sentence() : null);
    if (nothing) return;
    stage.label(summary());
    set(svg, { width: stage.width, height: stage.height, viewBox: `0 0 ${stage.width} ${stage.height}` });
    const layer = { lines: el("g", {}, ...links.flatMap((one) => one.nodes)), circles: el("g"), labels: el("g") };
    for (const topic of nodes) {
      topic.circle = el("circle", { fill: themeColour(topic.theme) });
      topic.mark = el("text", { "text-anchor": "middle", "font-weight": 700, fill: "var(--card)" },
        themeMark(topic.theme));
      layer.circles.append(topic.circle, topic.mark);
    }
    svg.replaceChildren(layer.lines, layer.circles, layer.labels);
    svg.labels = layer.labels;
    legend();
    draw();
  }

  const sentence = () => (known.size === 0 ? "There are no topics to show."
    : `No pair of the ${count(known.size)} topics is known to go together or to avoid each other.`);

  function summary() {
    const together = links.filter(({ pair }) => pair.log_lift > 0).length;
    const best = links.length ? links[0].pair : null;
    const first = best ? ` Strongest: ${known.get(best.first).label} and ${known.get(best.second).label}, ${pairWords(best)}.` : "";
    return `Network of ${nodes.length} topics: ${together} pairs go together, ${links.length - together} avoid each other; ${alone.length} topics have no line.${first} Arrow keys go from topic to topic, Enter selects.`;
  }

  function legend() {
    if (options.legend === false) return;
    const pairs = links.map((one) => one.pair);
    const themes = themeList(data.themes);
    const other = (topic) => html("button", { type: "button", class: "item",
      "aria-pressed": String(topic.id === state.topic), onclick: () =>
      options.onSelect?.({ topic: topic.id }) }, html("span", { class: "swatch",
      style: { background: themeColour(topic.theme) }, "aria-hidden": "true" }), topic.label);
    const many = `${count(alone.length)} topic${alone.length === 1 ? "" : "s"} without a line${alone.length > LISTED ? `, showing ${LISTED}` : ""}`;
    const aside = alone.length ? html("details", { class: "view-aside",
      open: stage.width >= 560 && alone.length <= 24 }, html("summary", {}, many), html(
      "div", { class: "view-legend" }, ...alone.slice(0, LISTED).map(other))) : null;
    stage.below.replaceChildren(...[signedLegend(pairs),
      themes.length ? themeLegend(themes, state.theme, (theme) => options.onSelect?.({ theme, topic: null }))
      : null, aside].filter(Boolean));
  }

  // ---- places and drawing

  const size = () => {
    const most = Math.max(...nodes.map((topic) => topic.share), 1e-12);
    const unit = Math.min(Math.sqrt((0.07 * stage.width * stage.height) / Math.PI),
      (0.06 * Math.min(stage.width, stage.height)) / Math.sqrt(most));
    return (topic) => Math.max(4, Math.sqrt(topic.share) * unit) * clamp(zoom.k, 0.6, 20) ** 0.35;
  };
  const edge = () => Math.min(60, stage.width * 0.1);
  const flat = (topic) => [edge() + topic.u * (stage.width - 2 * edge()), 36 + topic.v * (stage.height - 72)];
  const place = (topic) => {
    const [x, y] = flat(topic);
    return [zoom.k * x + zoom.x, zoom.k * y + zoom.y];
  };

  function soon() {
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; draw(); });
  }

  const here = () => state.topic ?? cursor ?? state.hover?.topic ?? null;
  const touches = (pair, id) => pair.first === id || pair.second === id;
  function lit(topic) {
    const id = byId.has(here()) ? here() : null;
    if (id !== null) return topic.id === id || links.some(({ pair }) => touches(pair, id) && touches(pair, topic.id));
    if ((state.theme ?? null) !== null) return topic.theme === state.theme;
    if (state.weights) return belongs(state, topic.id);
    if (state.word) return topic.words?.includes(state.word) || topic.telling?.includes(state.word);
    return true;
  }

  function draw() {
    if (nodes.length === 0 || !nodes[0].circle) return;
    const r = size();
    const id = byId.has(here()) ? here() : null;
    const other = byId.has(state.other) ? state.other : null;
    const usual = clamp((14 / Math.sqrt(links.length)) * Math.sqrt((stage.width * stage.height) / 6e5), 0.16, 0.85);
    for (const one of links) {
      const { pair } = one;
      const [first, second] = [byId.get(pair.first), byId.get(pair.second)];
      const opacity = id !== null ? (touches(pair, id) ? (other === null || joins(pair, id, other) ? 0.95 : 0.3) : 0.07)
        : (lit(first) || lit(second) ? 1 : 0.2) * (pair.log_lift > 0 ? usual : usual * 0.6);
      one.place(place(first), place(second), r(first), r(second), opacity);
    }
    for (const topic of nodes) {
      const [x, y] = place(topic);
      const mine = topic.id === state.topic;
      const bright = lit(topic);
      const pointed = topic.id === cursor || topic.id === state.hover?.topic;
      set(topic.circle, { cx: x.toFixed(1), cy: y.toFixed(1), r: r(topic).toFixed(1), "fill-opacity": bright ? 1 : 0.22,
        stroke: mine || pointed ? "var(--ink)" : "var(--card)", "stroke-width": mine ? 3 : pointed ? 2 : 1 });
      topic.mark.style.display = r(topic) >= 7 ? "" : "none";
      set(topic.mark, { x: x.toFixed(1), y: (y + r(topic) * 0.36).toFixed(1),
        "font-size": Math.min(r(topic), 15).toFixed(1), opacity: bright ? 1 : 0.4 });
    }
    drawLabels(r);
  }

  function drawLabels(r) {
    const wanted = [];
    const circles = [];
    const room = Math.round(((stage.width * stage.height) / 8000) * clamp(zoom.k, 0.8, 30));
    const dim = byId.has(here()) || (state.theme ?? null) !== null || Boolean(state.word || state.weights);
    for (const topic of nodes) {
      const [x, y] = place(topic);
      circles.push([x - r(topic), y - r(topic), x + r(topic), y + r(topic)]);
      if (x < 0 || y < 0 || x > stage.width || y > stage.height) continue;
      const special = topic.id === state.topic || topic.id === cursor || topic.id === state.hover?.topic;
      if (dim ? !lit(topic) : !special && wanted.length >= room) continue;
      const weight = topic.id === state.topic ? 650 : 400;
      const text = fit(topic.label, Math.min(200, stage.width * 0.4), 12, weight);
      wanted.push({ key: topic.id, text, weight, x, y, gap: r(topic) + 3, wide: measure(text, 12, weight), tall: 15,
        priority: topic.share + (special ? 10 : 0) });
    }
    const placed = placeLabels(wanted, stage, [[stage.width - 46, 0, stage.width, 118]], circles);
    svg.labels.replaceChildren(...placed.map((one) => el("text", {
      x: one.left.toFixed(1), y: (one.top + one.tall * 0.78).toFixed(
        1), "font-size": 12, "font-weight": one.weight, fill: "var(--ink)", stroke: "var(--card)", "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke", "data-key": one.key,
    }, one.text)));
  }

  // ---- pointer and keys

  function find(px, py) {
    if (nodes.length === 0) return null;
    const r = size();
    return [...nodes].reverse().find((topic) => {
      const [x, y] = place(topic);
      return Math.hypot(x - px, y - py) <= Math.max(8, r(topic));
    }) ?? null;
  }

  function words(topic) {
    const mine = links.filter(({ pair }) => touches(pair, topic.id)).slice(0, 3);
    const line = ({ pair }) => `${pair.log_lift > 0 ? "goes with" : "avoids"} ${known.get(pair.first === topic.id ? pair.second : pair.first).label}: ${pairWords(pair)}`;
    return [`${topic.label}, ${percent(topic.share)}`, ...mine.map(line)].join("\n");
  }

  const pairTip = (pair) => `${known.get(pair.first).label}\n${known.get(pair.second).label}\n${pairWords(pair)}`;

  function hover(topic, x, y) {
    stage.tip(topic ? words(topic) : null, x, y);
    stage.node.style.cursor = topic ? "pointer" : "";
    if ((topic?.id ?? null) === cursor) return;
    cursor = topic?.id ?? null;
    options.onHover?.(topic ? { topic: topic.id } : null);
    soon();
  }

  function hovered(event) {
    if (event.buttons || event.target.closest("button")) return;
    const box = stage.node.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const topic = find(x, y);
    hover(topic, x, y);
    const pair = topic ? null : nearest(links, x, y);
    if (!pair) return;
    stage.tip(pairTip(pair), x, y);
    stage.node.style.cursor = "pointer";
  }

  function dragged(event, x, y) {
    const topic = find(x, y);
    if (!topic) return null;
    stage.tip(null);
    return {
      move(px, py) {
        topic.u = ((px - zoom.x) / zoom.k - edge()) / (stage.width - 2 * edge());
        topic.v = ((py - zoom.y) / zoom.k - 36) / (stage.height - 72);
        soon();
      },
      end() {},
    };
  }

  function tapped(event, x, y) {
    const topic = find(x, y);
    const pair = topic ? null : nearest(links, x, y);
    if (pair) options.onSelect?.({ topic: pair.first, pair: [pair.first, pair.second] });
    else options.onSelect?.(topic ? { topic: topic.id } : { topic: null, theme: null });
  }

  function key(event) {
    if (nodes.length === 0) return false;
    if (zoom.key(event)) return true;
    if (event.key === "Escape") {
      cursor = null;
      stage.tip(null);
      options.onSelect?.({ topic: null, theme: null });
      soon();
      return true;
    }
    if (event.key === "Enter" || event.key === " ") {
      if (cursor === null) return false;
      options.onSelect?.({ topic: cursor });
      return true;
    }
    const at = nodes.map((topic) => ({ id: topic.id, x: topic.u * stage.width, y: -topic.v * stage.height }));
    const next = nextTopic(at, at.find((one) => one.id === (cursor ?? state.topic)), event.key);
    if (!next) return false;
    const topic = byId.get(next.id);
    cursor = topic.id;
    const [x, y] = place(topic);
    if (x < 10 || y < 10 || x > stage.width - 10 || y > stage.height - 10) zoom.centre(...flat(topic), zoom.k);
    stage.say(words(topic).replaceAll("\n", "; "));
    stage.tip(words(topic), clamp(x, 0, stage.width), clamp(y, 0, stage.height));
    options.onHover?.({ topic: cursor });
    soon();
    return true;
  }

  // ---- the outside

  function twin() {
    const name = (id) => known.get(id)?.label ?? "";
    const rows = links.map(({ pair }) => [pair.first, name(pair.first), pair.second, name(pair.second),
      pair.log_lift > 0 ? "go together" : "avoid each other", pair.lift
      ?? Math.exp(pair.log_lift), pair.low, pair.high, pair.sure === null || pair.sure === undefined ? "" : pair.sure
      ? "sure" : "not sure"]);
    return table(`Pairs of topics: ${count(rows.length)}, the strongest first`,
      ["Topic", "Label", "Topic", "Label", "Sign", ["Lift", digits], ["Low", digits], ["High", digits], "Sure"], rows);
  }

  load();
  redraw();
  return {
    update(next) {
      const other = (state.theme ?? null) !== (next.theme ?? null) || (state.topic ?? null) !== (next.topic ?? null);
      state = next;
      if (other && nodes.length) legend();
      soon();
    },
    resize: redraw,
    destroy() {
      cancelAnimationFrame(waiting);
      zoom.close();
      stage.close();
    },
    table: twin,
    svg: () => (nodes.length ? standalone(svg) : null),
    setData(next) {
      data = next;
      load();
      redraw();
    },
  };
}
