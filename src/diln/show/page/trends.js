// Shares over time: lines with bands; many series as small multiples; a brush chooses a span of time.
//
//   createTrends(host, data, options) -> {update, resize, destroy, table, svg, setData}
//   data    {trends: Trends, topics?: [TopicInfo], themes?: Themes (for colours)}
//   options onSelect({since, until} | {topic} | {theme}), onHover({topic} | {theme} | null), height, legend,
//           layout "auto" | "lines" | "multiples"
//           since and until are days, "2017-02-01": the first day of the span and the first day after it;
//           both null for the whole time
//   update(state)  {topic, theme, since, until, hover}
//   Keys: up and down choose a series, left and right a period, Shift with them a span, Enter selects, Escape clears.

import { themeColour } from "diln/colour.js";
import { capture } from "diln/panzoom.js";
import { edges, tickPeriods } from "diln/periods.js";
import { clamp, count, linear, percent, ticks } from "diln/scale.js";
import { el, fit, html, measure, set, standalone, table } from "diln/svg.js";
import { openStage, topicsById } from "diln/view.js";

const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const MOST_LINES = 6; // more series than this become small multiples
const FOOT = 40; // pixels for the axis and the bars of documents
const COUNTS = 14; // for their numbers, where each period is named
const NAMED = 12; // periods that may all be named

export function createTrends(host, data, options = {}) {
  let trends;
  let shown; // [{id, label, values, low, high, colour, dash}]
  let spans; // first days of the periods, and of the one after the last
  let state = {};
  let focus = { series: -1, period: -1, other: -1 };
  let panels = [];
  let brush = null;
  const stage = openStage(host, { kind: "trends", height: tall, draw, key });
  const svg = el("svg", { "aria-hidden": "true" });
  stage.node.append(svg);
  stage.node.style.touchAction = "pan-y";
  stage.node.addEventListener("pointerdown", pressed);
  stage.node.addEventListener("pointermove", moved);
  stage.node.addEventListener("pointerup", released);
  stage.node.addEventListener("pointercancel", () => { brush = null; draw(); });
  stage.node.addEventListener("pointerleave", () => { if (!brush) point(-1, -1); });

  const kind = () => (trends.by === "theme" ? "theme" : "topic");
  const chosen = () => state[kind()] ?? null;
  const multiples = () => options.layout === "multiples" || (options.layout !== "lines" && shown.length > MOST_LINES);

  function load() {
    trends = data.trends ?? { by: "topic", periods: [], n_docs: [], series: [] };
    const known = topicsById(data.topics, data.themes);
    const used = new Map();
    shown = (trends.series ?? []).map((series) => {
      const theme = trends.by === "theme" ? series.id : (known.get(series.id)?.theme ?? null);
      const before = used.get(theme) ?? 0;
      used.set(theme, before + 1);
      return { ...series, colour: themeColour(theme), dash: DASHES[before % DASHES.length] };
    });
    spans = edges(trends.periods ?? []);
    focus = { series: -1, period: -1, other: -1 };
  }

  function columns(width) {
    return clamp(Math.floor(width / 200), 1, 4);
  }
  function tall(width) {
    if (options.height) return typeof options.height === "function" ? options.height(width) : options.height;
    if (!shown || !multiples()) return clamp(width * 0.5, 220, 420) + (shown && width < 480 ? 18 * shown.length : 0);
    return Math.ceil(shown.length / columns(width)) * 104 + below() + 8;
  }

  const n = () => trends.periods.length;
  const below = () => FOOT + (!multiples() && n() <= NAMED ? COUNTS : 0);
  const here = (value) => value !== null && value !== undefined && Number.isFinite(value);
  const seen = (series, at) => here(series.values[at]) && !(trends.n_docs && trends.n_docs[at] === 0);

  function draw() {
    stage.measure();
    const nothing = n() === 0 || shown.length === 0;
    stage.empty(nothing ? "There are no dates, so there is nothing to show over time." : null);
    if (nothing) return;
    stage.label(summary());
    set(svg, { width: stage.width, height: stage.height, viewBox: `0 0 ${stage.width} ${stage.height}` });
    panels = multiples() ? grid() : [whole()];
    svg.replaceChildren(...panels.map(drawPanel), foot());
    if (options.legend !== false) stage.below.replaceChildren(html("div", { class: "view-legend" }, note()));
  }

  function note() {
    const bands = shown.some((series) => series.low && series.high) ? " Bands hold the share in 19 of 20 cases." : "";
    return `${multiples() && shown.length > 1 ? "Each panel has its own scale." : "Shares of all words."}${bands} Small bars: number of documents, at most ${count(Math.max(...(trends.n_docs ?? [0])))}${thin() ? "; hollow ones have no share" : ""}.${options.onSelect ? " Drag to choose a span of time." : ""}`;
  }

  const thin = () => trends.n_docs?.some((docs, at) => docs > 0 && !shown.some((series) => seen(series, at)));

  function summary() {
    const rise = (series) => {
      const known = series.values.filter((value, at) => seen(series, at));
      const part = Math.max(1, Math.floor(known.length / 4));
      const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
      return known.length < 2 ? 0 : mean(known.slice(-part)) - mean(known.slice(0, part));
    };
    const sorted = [...shown].sort((one, two) => rise(two) - rise(one));
    const [up, down] = [sorted[0], sorted[sorted.length - 1]];
    const told = shown.length > 1 ? ` Rising most: ${up.label}. Falling most: ${down.label}.` : "";
    return `Shares of ${shown.length} ${kind()}${shown.length === 1 ? "" : "s"} by ${trends.granularity ?? "period"}, ${trends.periods[0]} to ${trends.periods[n() - 1]}.${told} Up and down choose a series, left and right a period.`;
  }

  const most = (list) => Math.max(...list.flatMap((series) =>
    series.values.map((value, at) => (seen(series, at) ? Math.min(series.high?.[at] ?? value, 3 * value) : 0))), 1e-9);

  // One panel with all lines; names at their right ends.
  function whole() {
    const names = stage.width >= 480 ? Math.min(stage.width * 0.3,
      Math.max(...shown.map((series) => measure(series.label, 12, 650))) + 36) : 8;
    const top = stage.width >= 480 ? 10 : 10 + 18 * shown.length;
    return panel(shown, 44, top, stage.width - 44 - names, stage.height - below() - top - 4, most(shown),
      stage.width >= 480 ? "ends" : "above");
  }

  function grid() {
    const across = columns(stage.width);
    const wide = stage.width / across;
    return shown.map((series, at) => panel([series], (at % across) * wide + 40, Math.floor(at / across) * 104 + 22,
      wide - 52, 74, most([series]), "title"));
  }

  function panel(series, left, top, width, height, high, names) {
    const x = linear([0, Math.max(1, n() - 1)], [left + 4, left + width - 4]);
    return { series, left, top, width, height, names, high, x: n() === 1 ? () => left + width / 2 : x,
      y: linear([0, high], [top + height, top + 4]) };
  }

  function drawPanel(one) {
    const { left, top, width, height, y } = one;
    const made = [];
    const marks = ticks(0, one.high, one.names === "title" ? 3 : Math.max(3, height / 55));
    for (const tick of one.names === "title" ? [0, marks[marks.length - 1]] : marks) {
      made.push(el("line", { x1: left, x2: left + width, y1: y(tick), y2: y(tick),
        stroke: tick === 0 ? "var(--line)" : "var(--faint)", "stroke-width": 1 }));
      made.push(el("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end", "font-size": 11, fill: "var(--soft)" },
        percent(tick)));
    }
    made.push(...spanMarks(one));
    for (const series of one.series) made.push(...drawSeries(one, series));
    made.push(...names(one), ...pointer(one));
    return el("g", {}, ...made);
  }

  function bright(series) {
    const mark = chosen() ?? state.hover?.[kind()] ?? (focus.series >= 0 ? shown[focus.series].id : null);
    return mark === null || mark === series.id || !shown.some((one) => one.id === mark);
  }

  function drawSeries(one, series) {
    const { x, y } = one;
    const runs = [];
    for (let at = 0; at < n(); at += 1) {
      if (!seen(series, at)) continue;
      if (runs.length && runs[runs.length - 1].end === at - 1) runs[runs.length - 1].end = at;
      else runs.push({ start: at, end: at });
    }
    const opacity = bright(series) ? 1 : 0.25;
    const made = [];
    const short = (value) => value.toFixed(1);
    for (const { start, end } of runs) {
      const places = Array.from({ length: end - start + 1 }, (_, step) => start + step);
      const low = (at) => y(clamp(series.low?.[at] ?? series.values[at], 0, one.high));
      const high = (at) => y(clamp(series.high?.[at] ?? series.values[at], 0, one.high));
      if (series.low && series.high && places.length > 1) {
        const there = places.map((at) => `${short(x(at))} ${short(high(at))}`).join("L");
        const back = [...places].reverse().map((at) => `${short(x(at))} ${short(low(at))}`).join("L");
        made.push(el("path", { d: `M${there}L${back}Z`, fill: series.colour, "fill-opacity": 0.16 * opacity }));
      }
      if (places.length === 1) {
        const at = places[0];
        if (series.low && series.high) made.push(el("line",
          { x1: x(at), x2: x(at), y1: low(at), y2: high(at), stroke: series.colour, "stroke-width": 2,
          "stroke-opacity": 0.35 * opacity }));
        made.push(el("circle", { cx: x(at), cy: y(series.values[at]), r: 2.5, fill: series.colour,
          "fill-opacity": opacity }));
      } else {
        made.push(el("path", { d: `M${places.map((at) => `${short(x(at))} ${short(y(series.values[at]))}`).join("L")}`,
          fill: "none", stroke: series.colour, "stroke-width": series.id === chosen() ? 2.8
          : 1.8, "stroke-linejoin": "round", "stroke-dasharray": one.names === "title" ? ""
          : series.dash, "stroke-opacity": opacity }));
      }
    }
    return made;
  }

  // Names at the right ends, moved apart; over the panel on narrow pages; as the title of a small panel.
  function names(one) {
    const text = (series, x, y, room) => el("text",
      { x, y, "font-size": 12, "font-weight": series.id === chosen() ? 650 : 400, fill: "var(--ink)",
      opacity: bright(series) ? 1 : 0.45 }, fit(series.label, room, 12));
    if (one.names === "title") return one.series.map((series) =>
      text(series, one.left - 32, one.top - 6, one.width + 32));
    const key = (series, x, y) => el("line", { x1: x, x2: x + 18, y1: y, y2: y, stroke: series.colour,
      "stroke-width": 2.2, "stroke-dasharray": series.dash });
    if (one.names === "above") return one.series.flatMap((series, at) =>
      [key(series, 6, 12 + 18 * at), text(series, 30, 16 + 18 * at, stage.width - 40)]);
    const ends = one.series.map((series) => {
      let last = n() - 1;
      while (last > 0 && !seen(series, last)) last -= 1;
      return { series, y: one.y(series.values[last] ?? 0) };
    }).sort((a, b) => a.y - b.y);
    ends.forEach((end, at) => { if (at > 0) end.y = Math.max(end.y, ends[at - 1].y + 15); });
    const over = ends.length ? ends[ends.length - 1].y - (one.top + one.height) : 0;
    for (let at = ends.length - 1; at >= 0 && over > 0; at -= 1) ends[at].y = Math.min(ends[at].y,
      at === ends.length - 1 ? one.top + one.height : ends[at + 1].y - 15);
    const right = one.left + one.width;
    return ends.flatMap(({ series, y }) => [key(series, right + 6, y),
      text(series, right + 30, y + 4, stage.width - right - 32)]);
  }

  // ---- the span of time and the period pointed at

  function within() {
    if (brush) return [Math.min(brush.start, brush.end), Math.max(brush.start, brush.end)];
    if (!state.since && !state.until) return null;
    const inside = trends.periods.map((_, at) => at).filter((at) =>
      (!state.since || spans[at + 1] > state.since) && (!state.until || spans[at] < state.until));
    return inside.length ? [inside[0], inside[inside.length - 1]] : null;
  }

  function spanMarks(one) {
    const span = within();
    if (!span) return [];
    const half = n() > 1 ? (one.x(1) - one.x(0)) / 2 : 10;
    const [from, to] = [Math.max(one.left, one.x(span[0]) - half),
      Math.min(one.left + one.width, one.x(span[1]) + half)];
    return [el("rect", { x: from, y: one.top, width: Math.max(1, to - from), height: one.height, fill: "var(--accent)",
      "fill-opacity": 0.1 }), ...[from, to].map((x) =>
      el("line", { x1: x, x2: x, y1: one.top, y2: one.top + one.height, stroke: "var(--accent)",
      "stroke-width": 1.2 }))];
  }

  function pointer(one) {
    if (focus.period < 0) return [];
    const x = one.x(focus.period);
    const dots = one.series.filter((series) => seen(series, focus.period) && bright(series)).map((series) =>
      el("circle", { cx: x, cy: one.y(series.values[focus.period]), r: 3, fill: series.colour, stroke: "var(--card)",
      "stroke-width": 1.5 }));
    return [el("line", { x1: x, x2: x, y1: one.top, y2: one.top + one.height, stroke: "var(--none)", "stroke-width": 1,
      "stroke-dasharray": "2 2" }), ...dots];
  }

  // The axis of time, with the number of documents as small bars.
  function foot() {
    const lowest = panels.filter((one) => one.top === Math.max(...panels.map((other) => other.top)));
    const all = multiples() ? panels.slice(0, columns(stage.width)).map((one) => ({ ...one })) : lowest;
    const base = stage.height - below() + 4;
    const peak = Math.max(...(trends.n_docs ?? [1]), 1);
    const made = [];
    for (const one of all) {
      const wide = clamp((n() > 1 ? one.x(1) - one.x(0) : 12) - 1, 1, 18);
      (trends.n_docs ?? []).forEach((docs, at) => {
        const height = (12 * docs) / peak;
        const full = shown.some((series) => seen(series, at));
        if (docs > 0) made.push(el("rect", { x: one.x(at) - wide / 2, y: base + 12 - Math.max(height, 1.5), width: wide,
          height: Math.max(height, 1.5), fill: full ? "var(--none)" : "none", "fill-opacity": 0.45,
          stroke: "var(--none)", "stroke-width": full ? 0 : 0.7, "data-docs": docs, "data-few": full ? null : "" }));
      });
      made.push(el("text", { x: one.left - 6, y: base + 9, "text-anchor": "end", "font-size": 10, fill: "var(--soft)" },
        count(peak)));
      const named = tickPeriods(trends.periods, one.x, one.left, one.left + one.width);
      for (const [at, text, x] of named) {
        made.push(el("line", { x1: one.x(at), x2: one.x(at), y1: base + 12, y2: base + 16, stroke: "var(--none)" }));
        made.push(el("text", { x, y: base + 28, "text-anchor": "middle", "font-size": 11, fill: "var(--soft)" }, text));
        if (named.length === n() && below() > FOOT && trends.n_docs) made.push(el("text",
          { x, y: base + 41, "text-anchor": "middle", "font-size": 10, fill: "var(--soft)", class: "n-docs" },
          count(trends.n_docs[at])));
      }
    }
    return el("g", {}, ...made);
  }

  // ---- pointer and keys

  function spot(event) {
    const box = stage.node.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const one = panels.find((each) => x >= each.left - 36 && x <= each.left + each.width + 12 && y >= each.top - 20
      && y <= each.top + each.height + 8) ?? (multiples() ? null : panels[0]);
    if (!one) return null;
    const at = n() === 1 ? 0 : clamp(Math.round(((x - one.x(0)) / (one.x(n() - 1) - one.x(0))) * (n() - 1)), 0,
      n() - 1);
    const far = (series) => (seen(series, at) ? Math.abs(one.y(series.values[at]) - y) : Infinity);
    const byName = one.names === "ends" && x > one.left + one.width ? null : one.series;
    const near = [...(byName ?? one.series)].sort((a, b) => far(a) - far(b))[0];
    return { one, at, x, y, series: one.names === "title" || far(near) < 40 ? shown.indexOf(near) : -1 };
  }

  function words(series, at) {
    const docs = trends.n_docs ? `${count(trends.n_docs[at])} documents` : "";
    const value = (one) => (seen(one, at) ? `${percent(one.values[at])}${here(one.low?.[at]) && here(one.high?.[at]) ? ` (${percent(Math.max(0, one.low[at]))} to ${percent(one.high[at])})` : ""}` : trends.n_docs?.[at] ? "no share" : "no documents");
    return series >= 0 ? `${trends.periods[at]}: ${shown[series].label}\n${value(shown[series])}\n${docs}`
      : `${trends.periods[at]}\n${docs}`;
  }

  function point(series, at, x, y) {
    if (series === focus.series && at === focus.period && at < 0) return;
    const other = series !== focus.series;
    focus = { ...focus, series, period: at };
    if (at >= 0) stage.tip(words(series, at), x, y);
    else stage.tip(null);
    if (other) options.onHover?.(series >= 0 ? { [kind()]: shown[series].id } : null);
    draw();
  }

  function pressed(event) {
    if (event.button !== 0 || !panels.length) return;
    const found = spot(event);
    if (found) brush = { start: found.at, end: found.at, x: found.x, moved: false, id: event.pointerId };
  }
  function moved(event) {
    if (!panels.length) return;
    const found = spot(event);
    if (brush && found) {
      if (Math.abs(found.x - brush.x) > 5 && !brush.moved) {
        brush.moved = true;
        capture(stage.node, brush.id);
      }
      brush.end = found.at;
    }
    if (found) point(found.series, found.at, found.x, found.y);
    else if (!brush) point(-1, -1);
  }
  function released(event) {
    const done = brush;
    brush = null;
    if (!done) return;
    if (done.moved) select(Math.min(done.start, done.end), Math.max(done.start, done.end));
    else {
      const found = spot(event);
      if (found && found.series >= 0) options.onSelect?.({ [kind()]: shown[found.series].id });
      else options.onSelect?.({ since: null, until: null });
    }
    draw();
  }

  const select = (from, to) => options.onSelect?.({ since: spans[from], until: spans[to + 1] });

  function key(event) {
    const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!panels.length) return false;
    if (event.key === "Escape") {
      focus = { series: -1, period: -1, other: -1 };
      brush = null;
      stage.tip(null);
      options.onSelect?.({ since: null, until: null, [kind()]: null });
      draw();
      return true;
    }
    if (event.key === "Enter" || event.key === " ") {
      if (brush) {
        const span = within();
        brush = null;
        select(...span);
      } else if (focus.series >= 0) options.onSelect?.({ [kind()]: shown[focus.series].id });
      else return false;
      return true;
    }
    const way = ways[event.key];
    if (!way) return false;
    const period = focus.period < 0 ? n() - 1 : clamp(focus.period + way[1], 0, n() - 1);
    const series = focus.series < 0 ? 0 : clamp(focus.series + way[0], 0, shown.length - 1);
    if (event.shiftKey && way[1]) brush = { start: brush?.start ?? Math.max(0, focus.period), end: period,
      moved: true };
    const one = panels[multiples() ? series : 0];
    stage.say(words(series, period).replaceAll("\n", ", "));
    point(series, period, one.x(period), seen(shown[series], period) ? one.y(shown[series].values[period]) : one.top);
    return true;
  }

  // ---- the outside

  function twin() {
    const columnsOf = shown.flatMap((series) => [[series.label, percent], ["low", percent], ["high", percent]]);
    const rows = trends.periods.map((period, at) =>
      [period, trends.n_docs?.[at], ...shown.flatMap((series) =>
      (seen(series, at) ? [series.values[at], series.low?.[at], series.high?.[at]] : [null, null, null]))]);
    return table(`Shares over time, with 95% bands`, ["Period", ["Documents", count], ...columnsOf], rows);
  }

  load();
  draw();
  return {
    update(next) {
      state = next;
      draw();
    },
    resize: draw,
    destroy: () => stage.close(),
    table: twin,
    svg: () => (n() && shown.length ? standalone(svg) : null),
    setData(next) {
      data = next;
      load();
      draw();
    },
  };
}
