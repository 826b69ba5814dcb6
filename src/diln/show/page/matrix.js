// Matrix of log lifts, topics ordered by theme.
//
//   createMatrix(host, data, options) -> {update, resize, destroy, table, svg, setData}
//   data    {matrix: PairMatrix (log_lift and sure as rows, or one flat array), topics: [TopicInfo], themes: Themes}
//   options onSelect({topic} | {topic, pair: [first, second]}), onHover({topic, pair} | null), height, legend
//   update(state)  {topic, other, theme, hover: {topic}, weights (see view.js)}: rows and columns that are emphasised
//   Keys: arrows move a cursor over the cells, Enter selects the pair, Escape clears.
//
// Colours diverge from none; large cells also bear + or - and sure ones a dot, so that the signs need no colour.

import { diverging, resolve, themeColour, themeMark } from "diln/colour.js";
import { clamp, count, digits, pairWords } from "diln/scale.js";
import { el, fit, html, measure, set, standalone, table } from "diln/svg.js";
import { belongs, openStage, themeList, topicsById } from "diln/view.js";

const LABEL = 11; // size of labels
const SIGNED = 9; // pixels of a cell from which it bears signs
const FINE = 6; // pixels of a cell below which there are no gaps between cells
const LEVELS = 24; // shades of each sign

// The matrix as one typed array, and what is sure, or null.
function read(matrix) {
  const order = (matrix && matrix.order) || [];
  const n = order.length;
  const flat = (rows) => (rows && rows.length === n && n > 0 && rows[0].length !== undefined ? rows.flat() : rows);
  const values = Float32Array.from(flat(matrix && matrix.log_lift) ?? [],
    (value) => (Number.isFinite(value) ? value : NaN));
  const sure = matrix && matrix.sure ? Uint8Array.from(flat(matrix.sure), Number) : null;
  if (n === 0 || values.length !== n * n) return { n: 0, order: [], values: new Float32Array(0), sure: null, themes: [],
    limit: 1 };
  const off = values.filter((value, at) => value === value && Math.floor(at / n) !== at % n).map(Math.abs).sort();
  const limit = off.length ? Math.max(0.05, off[Math.floor(0.98 * (off.length - 1))]) : 1;
  return { n, order, values, sure, themes: matrix.themes ?? [], limit };
}

// Runs of one theme along the order: [theme, start, end].
function blocks(themes) {
  const out = [];
  themes.forEach((theme, at) => {
    if (out.length && out[out.length - 1][0] === theme) out[out.length - 1][2] = at + 1;
    else out.push([theme, at, at + 1]);
  });
  return out;
}

export function createMatrix(host, data, options = {}) {
  let known;
  let themes;
  let grid;
  let state = {};
  let cursor = null; // [row, column]
  let area = { left: 0, top: 0, cell: 1, size: 1 };
  const stage = openStage(host, { kind: "matrix", height: tall, draw, key });
  const canvas = html("canvas");
  const over = el("svg", { "aria-hidden": "true" });
  over.style.cssText = canvas.style.cssText = "position:absolute;left:0;top:0";
  stage.node.append(canvas, over);
  stage.node.addEventListener("pointermove", (event) => hover(at(event), event));
  stage.node.addEventListener("pointerleave", () => hover(null));
  stage.node.addEventListener("click", (event) => choose(at(event)));

  function load() {
    known = topicsById(data.topics, data.themes);
    themes = new Map(themeList(data.themes).map((theme) => [theme.id, theme]));
    grid = read(data.matrix);
    cursor = null;
  }
  const name = (place) => known.get(grid.order[place])?.label ?? `topic ${grid.order[place]}`;
  const value = (row, column) => grid.values[row * grid.n + column];
  const isSure = (row, column) => grid.sure !== null && grid.sure[row * grid.n + column] === 1;
  const between = (row, column) => ({ log_lift: value(row, column), sure: grid.sure ? isSure(row, column) : null });

  function summary() {
    let [together, apart, sure] = [0, 0, 0];
    for (let row = 0; row < grid.n; row += 1)
      for (let column = 0; column < row; column += 1) {
        if (value(row, column) > 0) together += 1;
        else apart += 1;
        if (isSure(row, column)) sure += 1;
      }
    const told = grid.sure ? ` ${count(sure)} pairs are sure.` : "";
    return `Matrix of ${count(grid.n)} topics, ordered by theme: ${count(together)} pairs go together, ${count(apart)} avoid each other.${told} Arrow keys move over the cells.`;
  }

  // Labels get a third of the width at most; where cells are too small for a line each, every second, third ... is named.
  function margin(width) {
    const wide = grid.order.reduce((most, _, place) => Math.max(most, measure(name(place), LABEL)), 0);
    return Math.ceil(Math.min(wide + 26, width * 0.32, 220));
  }
  function tall(width) {
    if (options.height) return typeof options.height === "function" ? options.height(width) : options.height;
    return grid && grid.n ? Math.min(width - margin(width) + 22, 860, 22 + 44 * grid.n) : 120;
  }
  function measureArea() {
    const left = margin(stage.width);
    const top = 22;
    const size = Math.max(40, Math.min(stage.width - left - 4, stage.height - top - 4));
    area = { left, top, size, cell: size / grid.n };
  }

  function draw() {
    stage.measure();
    stage.empty(grid.n === 0 ? "There are no correlations to show: topics of this model have no locations." : null);
    if (grid.n === 0) return;
    stage.label(summary());
    measureArea();
    paint();
    drawOver();
  }

  function shade() {
    const level = (sign) => Array.from({ length: LEVELS + 1 }, (_, at) => resolve(diverging((sign * at) / LEVELS)));
    const [down, up] = [level(-1), level(1)];
    return (one) => (one < 0 ? down : up)[step(one)];
  }
  const step = (one) => Math.round(clamp(Math.abs(one) / grid.limit, 0, 1) * LEVELS);

  function paint() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(stage.width * ratio);
    canvas.height = Math.round(stage.height * ratio);
    canvas.style.width = `${stage.width}px`;
    canvas.style.height = `${stage.height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { left, top, cell, size } = area;
    if (cell < FINE) {
      pen.imageSmoothingEnabled = cell < 1;
      pen.drawImage(raster(), left, top, size, size);
    } else {
      const colour = shade();
      eachCell((row, column, one) => {
        pen.fillStyle = row === column ? resolve("var(--faint)") : colour(one);
        pen.fillRect(left + column * cell, top + row * cell, cell - 1, cell - 1);
      });
    }
    if (cell >= SIGNED) signs(pen);
    else if (cell >= 3) dots(pen);
  }

  // One pixel for each cell: quick to draw, and small in a file, where cells are many.
  function raster() {
    const small = html("canvas", { width: grid.n, height: grid.n });
    const pen = small.getContext("2d");
    const image = pen.createImageData(grid.n, grid.n);
    const parts = (css) => resolve(css).match(/\d+/g).map(Number);
    const level = (sign) => Array.from({ length: LEVELS + 1 }, (_, at) => parts(diverging((sign * at) / LEVELS)));
    const [down, up, same] = [level(-1), level(1), parts("var(--faint)")];
    eachCell((row, column, one) => {
      const rgb = row === column ? same : (one < 0 ? down : up)[step(one)];
      image.data.set([...rgb, 255], 4 * (row * grid.n + column));
    });
    pen.putImageData(image, 0, 0);
    return small;
  }

  function eachCell(call) {
    for (let row = 0; row < grid.n; row += 1) for (let column = 0; column < grid.n; column += 1) if (value(row,
      column) === value(row, column)) call(row, column, value(row, column));
  }

  const loud = (row, column) => row !== column && (grid.sure ? isSure(row, column)
    : Math.abs(value(row, column)) > grid.limit / 3);
  const ink = (one) => (Math.abs(one) / grid.limit > 0.55 ? "var(--card)" : "var(--ink)");

  // + and - in cells that are sure (or, where that is not known, strong).
  function signs(pen) {
    const { left, top, cell } = area;
    const arm = Math.min(cell * 0.24, 5);
    eachCell((row, column, one) => {
      if (!loud(row, column)) return;
      const [x, y] = [left + (column + 0.5) * cell - 0.5, top + (row + 0.5) * cell - 0.5];
      pen.fillStyle = resolve(ink(one));
      pen.fillRect(x - arm, y - 0.7, 2 * arm, 1.4);
      if (one > 0) pen.fillRect(x - 0.7, y - arm, 1.4, 2 * arm);
    });
  }

  function dots(pen) {
    const { left, top, cell } = area;
    eachCell((row, column, one) => {
      if (!loud(row, column)) return;
      pen.fillStyle = resolve(ink(one));
      const size = Math.max(1, cell * 0.25);
      const [x, y] = [left + (column + 0.5) * cell, top + (row + 0.5) * cell];
      pen.fillRect(x - size, y - size / 2, 2 * size, size);
      if (one > 0) pen.fillRect(x - size / 2, y - size, size, 2 * size);
    });
  }

  // What lies over the cells: labels, outlines of themes, the cursor, the selection.
  function overlay() {
    const { left, top, cell, size } = area;
    const made = [];
    const hot = new Set([state.topic, state.hover?.topic].filter((one) => (one ?? null) !== null).map((one) =>
      grid.order.indexOf(one)));
    const step = Math.max(1, Math.ceil((LABEL + 2) / cell));
    const from = new Set(cursor ? [cursor[0], cursor[1], ...hot] : hot);
    for (let place = 0; place < grid.n; place += 1) {
      const special = from.has(place);
      const crowded = !special && [...from].some((other) => other >= 0 && Math.abs(other - place) * cell < LABEL + 2);
      if (!special && (place % step !== 0 || crowded)) continue;
      const near = special && [...from].some((other) =>
        other >= 0 && other < place && (place - other) * cell < LABEL + 1);
      if (near && cursor && place !== cursor[0]) continue;
      const weight = special ? 650 : 400;
      made.push(el("text", { x: left - 8, y: top + (place + 0.5) * cell + LABEL * 0.35, "text-anchor": "end",
        "font-size": LABEL, "font-weight": weight, fill: special ? "var(--ink)"
        : "var(--soft)", opacity: belongs(state, grid.order[place]) ? null
        : 0.4 }, fit(name(place), left - 16, LABEL, weight)));
    }
    for (const [theme, start, end] of blocks(grid.themes)) {
      const [a, b] = [start * cell, end * cell];
      const dim = (state.theme ?? theme) !== theme;
      made.push(el("rect", { x: left + a, y: top + a, width: b - a, height: b - a, fill: "none", stroke: "var(--ink)",
        "stroke-width": dim ? 0.8 : 1.6, "stroke-opacity": dim ? 0.4 : 0.9 }));
      made.push(el("rect", { x: left + a, y: top - 4, width: Math.max(1, b - a - 1), height: 3,
        fill: themeColour(theme) }));
      made.push(el("rect", { x: left - 5, y: top + a, width: 3, height: Math.max(1, b - a - 1),
        fill: themeColour(theme) }));
      const mark = themeMark(theme);
      const text = b - a > 60 ? fit(`${mark}\u2002${themes.get(theme)?.label ?? ""}`, b - a - 4, LABEL, 600)
        : b - a > 10 ? mark : "";
      if (text) made.push(el("text", { x: left + a + 1, y: top - 8, "font-size": LABEL, "font-weight": 600,
        fill: "var(--ink)" }, text));
    }
    for (const place of hot) if (place >= 0) made.push(...cross(place, place, 0.9));
    const pair = [state.topic, state.other].map((one) => ((one ?? null) === null ? -1 : grid.order.indexOf(one)));
    if (Math.min(...pair) >= 0) for (const [row, column] of [pair, [...pair].reverse()]) made.push(frame(row, column,
      3));
    if (cursor) made.push(...cross(...cursor, 1), frame(...cursor, 2));
    return [el("g", {}, ...made), size];
  }

  function frame(row, column, width) {
    const { left, top, cell } = area;
    return el("rect", { x: left + column * cell - 1, y: top + row * cell - 1, width: cell + 1, height: cell + 1,
      fill: "none", stroke: "var(--ink)", "stroke-width": width });
  }

  function cross(row, column, strength) {
    const { left, top, cell, size } = area;
    const band = { fill: "none", stroke: "var(--ink)", "stroke-width": 1, "stroke-opacity": 0.55 * strength };
    return [el("rect", { x: left, y: top + row * cell, width: size, height: cell, ...band }),
      el("rect", { x: left + column * cell, y: top, width: cell, height: size, ...band })];
  }

  function drawOver() {
    if (grid.n === 0) return;
    set(over, { width: stage.width, height: stage.height, viewBox: `0 0 ${stage.width} ${stage.height}` });
    over.replaceChildren(overlay()[0]);
    if (options.legend !== false && !stage.below.firstChild) stage.below.replaceChildren(legend());
  }

  function legend() {
    const box = (share, words) => html("span", { class: "item" },
      html("span", { style: { width: "14px", height: "14px", background: diverging(share), display: "inline-block",
      border: "1px solid var(--line)" }, "aria-hidden": "true" }), words);
    const sign = grid.sure ? "+ and − mark sure pairs" : "+ and − mark strong pairs";
    return html("div", { class: "view-legend" }, box(-1,
      `avoid: ${digits(Math.exp(-grid.limit))} times as often as by chance, or less`), box(0, "as by chance"), box(
      1, `together: ${digits(Math.exp(grid.limit))} times, or more`), html(
      "span", { class: "item" }, `${sign}; outlines are themes`));
  }

  // ---- pointer and keys

  function at(event) {
    const box = stage.node.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - area.left) / area.cell);
    const row = Math.floor((event.clientY - box.top - area.top) / area.cell);
    if (row < 0 || row >= grid.n || column >= grid.n) return null;
    return column < 0 ? [row, row] : [row, column];
  }

  const words = ([row, column]) => (row === column ? name(row)
    : `${name(row)}\n${name(column)}\n${pairWords(between(row, column))}`);

  function hover(cell, event) {
    if (String(cell) === String(cursor)) return;
    cursor = cell;
    if (!cell) stage.tip(null);
    else {
      const box = stage.node.getBoundingClientRect();
      stage.tip(words(cell), event.clientX - box.left, event.clientY - box.top);
    }
    tell(cell);
    drawOver();
  }

  function tell(cell) {
    options.onHover?.(cell ? { topic: grid.order[cell[0]], pair: [grid.order[cell[0]], grid.order[cell[1]]] } : null);
  }

  function choose(cell) {
    if (!cell) options.onSelect?.({ topic: null, theme: null });
    else if (cell[0] === cell[1]) options.onSelect?.({ topic: grid.order[cell[0]] });
    else options.onSelect?.({ topic: grid.order[cell[0]], pair: [grid.order[cell[0]], grid.order[cell[1]]] });
  }

  function key(event) {
    const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (grid.n === 0) return false;
    if (event.key === "Escape") {
      cursor = null;
      stage.tip(null);
      options.onSelect?.({ topic: null, theme: null });
    } else if (event.key === "Enter" || event.key === " ") {
      if (!cursor) return false;
      choose(cursor);
      return true;
    } else if (event.key === "Home" || event.key === "End") {
      cursor = [cursor?.[0] ?? 0, event.key === "Home" ? 0 : grid.n - 1];
    } else if (ways[event.key]) {
      const start = cursor ?? [Math.max(0, grid.order.indexOf(state.topic)), 0];
      const move = cursor ? ways[event.key] : [0, 0];
      cursor = [clamp(start[0] + move[0], 0, grid.n - 1), clamp(start[1] + move[1], 0, grid.n - 1)];
    } else return false;
    if (cursor) {
      stage.say(words(cursor).replaceAll("\n", ", "));
      stage.tip(words(cursor), area.left + (cursor[1] + 0.5) * area.cell, area.top + cursor[0] * area.cell);
    }
    tell(cursor);
    drawOver();
    return true;
  }

  // ---- the outside

  function twin() {
    const rows = [];
    for (let row = 0; row < grid.n; row += 1)
      for (let column = row + 1; column < grid.n; column += 1) rows.push([row, column, value(row, column)]);
    rows.sort((one, two) => Math.abs(two[2]) - Math.abs(one[2]));
    const most = 5000;
    const shown = rows.slice(0, most).map(([row, column, one]) => [
      grid.order[row], name(row), grid.order[column], name(column), one, Math.exp(one), grid.sure
        ? (isSure(row, column) ? "sure" : "not sure") : "",
    ]);
    const cut = rows.length > most ? `, showing the ${count(most)} strongest` : "";
    return table(`Pairs of topics: ${count(rows.length)}${cut}`,
      ["Topic", "Label", "Topic", "Label", ["Log lift", digits], ["Lift", digits], "Sure"], shown);
  }

  // As SVG: cells of one shade are one path; many cells are an image of one pixel each.
  function picture() {
    if (grid.n === 0) return null;
    const { left, top, cell, size } = area;
    const cells = cell < FINE ? [el("image", { x: left, y: top, width: size, height: size,
      href: raster().toDataURL("image/png"), "image-rendering": "pixelated", preserveAspectRatio: "none" })] : shapes();
    return standalone(el("svg", { viewBox: `0 0 ${stage.width} ${stage.height}` }, ...cells, overlay()[0]));
  }

  function shapes() {
    const { left, top, cell } = area;
    const colour = shade();
    const paths = new Map();
    const add = (fill, d) => paths.set(fill, (paths.get(fill) ?? "") + d);
    const short = (number) => Number(number.toFixed(2));
    const side = short(cell - 1);
    eachCell((row, column, one) => add(row === column ? resolve("var(--faint)") : colour(one),
      `M${short(left + column * cell)} ${short(top + row * cell)}h${side}v${side}h${-side}z`));
    if (cell >= SIGNED) eachCell((row, column, one) => {
      if (!loud(row, column)) return;
      const arm = short(Math.min(cell * 0.24, 5));
      const [x, y] = [left + (column + 0.5) * cell - 0.5, top + (row + 0.5) * cell - 0.5];
      add(resolve(ink(one)), `M${short(x - arm)} ${short(y - 0.7)}h${2 * arm}v1.4h${-2 * arm}z${one > 0 ? `M${short(x - 0.7)} ${short(y - arm)}h1.4v${2 * arm}h-1.4z` : ""}`);
    });
    return [...paths].map(([fill, d]) => el("path", { fill, d }));
  }

  load();
  draw();
  return {
    update(next) {
      state = next;
      drawOver();
    },
    resize: draw,
    destroy: () => stage.close(),
    table: twin, svg: picture,
    setData(next) {
      data = next;
      load();
      stage.below.replaceChildren();
      draw();
    },
  };
}
