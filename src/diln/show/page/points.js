// Documents as points: one WebGL context, or a 2-D canvas with fewer points where there is none.
//
//   openPoints(host, {gpu}) -> points, on a canvas of its own that is put first in the host
//     points.set({x, y, theme, topic, row?})  typed arrays; Uint16Array is 0..65535 for -1..1, Float32Array is -1..1
//     points.draw({ax, bx, ay, by, width, height, size, alpha, theme, topic, moving})
//         pixel = a * coordinate + b; theme and topic: those to stand out, or null; moving: fewer points, if slow
//     points.pick(u, v, ru, rv)  the nearest point within an ellipse, as {at, x, y, theme, topic, row}, or null
//     points.sample(n, box)      up to n points in [x0, y0, x1, y1], for a file
//     points.spread()            [x0, y0, x1, y1] that most points lie in, or null
//     points.n, points.gpu       how many there are, and whether the GPU draws them
//
// Points are kept in the order of a grid's cells: what is in view is a few runs of the buffer, and picking
// looks at a few cells. Nothing is made for single points.

import { rgb, themeColour } from "diln/colour.js";
import { clamp } from "diln/scale.js";

const GRID = 128;
const SHADES = 64;
const STRIDE = 8; // bytes of a point: x, y, theme, topic as 16 bits each
const MOST_STRIDE = 255; // WebGL's limit, and so the limit of thinning
const FEW = 20000; // points that a 2-D canvas draws at most
const NONE = 65535;
const [LEAST, BEGIN, SLOW, MOST] = [30000, 300000, 250000, 4000000]; // points of a frame, for slow and fast machines

const VERTEX = `
attribute vec2 place; attribute vec2 kind;
uniform vec4 view; uniform float size, alpha, dim; uniform vec2 chosen; uniform float pass;
uniform vec3 shades[${SHADES}];
varying vec4 paint;
void main() {
  bool theme = chosen.x < 0. || kind.x == chosen.x;
  bool topic = chosen.y < 0. || kind.y == chosen.y;
  float bright = theme && topic ? 1. : 0.;
  vec2 at = (place * 2. - 1.) * view.xy + view.zw;
  gl_Position = bright == pass ? vec4(at, 0., 1.) : vec4(2., 2., 2., 1.);
  gl_PointSize = size;
  int shade = kind.x > 65534. ? ${SHADES - 1} : int(mod(kind.x, ${SHADES - 4}.));
  paint = vec4(shades[shade], alpha * (bright == 1. ? 1. : dim));
}`;

const FRAGMENT = `
precision mediump float;
varying vec4 paint; uniform float round;
void main() {
  vec2 off = gl_PointCoord - .5;
  float cover = round > 0. ? smoothstep(.5, .5 - round, length(off)) : 1.;
  gl_FragColor = vec4(paint.rgb, 1.) * paint.a * cover;
}`;

const cell = (value) => Math.min(GRID - 1, (value * GRID) >> 16);

function narrow(values, n, whole) {
  const out = new Uint16Array(n);
  if (!values) return out.fill(NONE);
  if (values instanceof Uint16Array) out.set(values.subarray(0, n));
  else if (whole) for (let at = 0; at < n; at += 1) out[at] = values[at] === null || values[at] < 0 ? NONE : values[at];
  else for (let at = 0; at < n; at += 1) out[at] = clamp(Math.round((values[at] + 1) * 32767.5), 0, 65535);
  return out;
}

// Points by cells of the grid: starts (cells + 1) and all four numbers of each point side by side.
function arrange({ x, y, theme, topic, row }) {
  const n = x.length;
  const [xs, ys] = [narrow(x, n, false), narrow(y, n, false)];
  const [themes, topics] = [narrow(theme, n, true), narrow(topic, n, true)];
  const starts = new Uint32Array(GRID * GRID + 1);
  for (let at = 0; at < n; at += 1) starts[cell(ys[at]) * GRID + cell(xs[at]) + 1] += 1;
  for (let at = 0; at < GRID * GRID; at += 1) starts[at + 1] += starts[at];
  const next = starts.slice();
  const packed = new Uint16Array(n * 4);
  const from = new Uint32Array(n);
  for (let at = 0; at < n; at += 1) {
    const home = cell(ys[at]) * GRID + cell(xs[at]);
    const to = next[home];
    next[home] += 1;
    packed[to * 4] = xs[at];
    packed[to * 4 + 1] = ys[at];
    packed[to * 4 + 2] = themes[at];
    packed[to * 4 + 3] = topics[at];
    from[to] = at;
  }
  return { n, starts, packed, from, row: row ?? null };
}

function program(gl) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.bindAttribLocation(made, 0, "place");
  gl.bindAttribLocation(made, 1, "kind");
  gl.linkProgram(made);
  return gl.getProgramParameter(made, gl.LINK_STATUS) ? made : null;
}

export function openPoints(host, { gpu = true } = {}) {
  let canvas = document.createElement("canvas");
  let data = arrange({ x: [], y: [] });
  let gl = gpu ? canvas.getContext("webgl", { antialias: false, premultipliedAlpha: true,
    powerPreference: "low-power" }) : null;
  let shader = null;
  let places = null;
  let buffer = null;
  let budget = BEGIN; // points that a frame of a gesture may have
  let before = 0;

  function prepare() {
    shader = program(gl);
    if (!shader) {
      gl = null;
      canvas = document.createElement("canvas");
      return;
    }
    places = {};
    for (const name of ["view", "size", "alpha", "dim", "chosen", "pass", "shades",
      "round"]) places[name] = gl.getUniformLocation(shader, name);
    buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data.packed, gl.STATIC_DRAW);
  }
  if (gl) prepare();
  const pen = gl ? null : canvas.getContext("2d");
  canvas.className = "view-points";
  host.prepend(canvas);
  let lost = false;
  canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); lost = true; });
  canvas.addEventListener("webglcontextrestored", () => { lost = false; prepare(); if (last) draw(last); });
  let last = null;

  function shades() {
    const out = new Float32Array(SHADES * 3);
    for (let at = 0; at < SHADES; at += 1) out.set(rgb(themeColour(at < SHADES - 4 ? at : null)), at * 3);
    return out;
  }

  // Runs of points in the cells that the view shows, merged where they touch.
  function runs(view) {
    const span = (a, b, most) => {
      const ends = [(0 - b) / a, (most - b) / a].map((value) => ((value + 1) / 2) * GRID).sort((p, q) => p - q);
      return [clamp(Math.floor(ends[0]), 0, GRID - 1), clamp(Math.floor(ends[1]), 0, GRID - 1)];
    };
    const [left, right] = span(view.ax, view.bx, view.width);
    const [low, high] = span(view.ay, view.by, view.height);
    const out = [];
    for (let row = low; row <= high; row += 1) {
      const start = data.starts[row * GRID + left];
      const end = data.starts[row * GRID + right + 1];
      if (end === start) continue;
      if (out.length && out[out.length - 1][1] === start) out[out.length - 1][1] = end;
      else out.push([start, end]);
    }
    return out;
  }

  function fit(view) {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [wide, tall] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
    if (canvas.width !== wide || canvas.height !== tall) {
      canvas.width = wide;
      canvas.height = tall;
    }
    canvas.style.width = `${view.width}px`;
    canvas.style.height = `${view.height}px`;
    return ratio;
  }

  // How many points a frame may have: fewer while frames of a gesture are late, more again when they are early.
  // A machine that is slow at it draws fewer at rest, too.
  function every(view, total) {
    const now = performance.now();
    const late = now - before;
    before = now;
    if (view.moving && late > 40 && late < 1500) budget = Math.max(LEAST, budget * 0.6);
    else if (view.moving && late < 22) budget = Math.min(MOST, budget * 1.1);
    const slow = budget < SLOW;
    const room = view.moving ? budget : slow ? SLOW : Infinity;
    return clamp(Math.ceil(total / room), 1, Math.floor(MOST_STRIDE / STRIDE));
  }

  function drawGpu(view) {
    const ratio = fit(view);
    const found = runs(view);
    const each = every(view, found.reduce((sum, [start, end]) => sum + end - start, 0));
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (data.n === 0) return;
    gl.useProgram(shader);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniform3fv(places.shades, shades());
    gl.uniform4f(places.view, (2 * view.ax) / view.width, (-2 * view.ay) / view.height, (2 * view.bx) / view.width - 1,
      1 - (2 * view.by) / view.height);
    const size = Math.max(1, view.size * ratio);
    gl.uniform1f(places.round, size > 2.5 ? Math.min(0.5, 1.2 / size) : 0);
    gl.uniform1f(places.dim, 0.16);
    gl.uniform2f(places.chosen, view.theme ?? -1, view.topic ?? -1);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(0);
    gl.enableVertexAttribArray(1);
    const chosen = (view.theme ?? null) !== null || (view.topic ?? null) !== null;
    for (const pass of chosen ? [0, 1] : [1]) {
      gl.uniform1f(places.pass, pass);
      gl.uniform1f(places.size, chosen && pass === 1 ? size * 1.35 : size);
      gl.uniform1f(places.alpha, Math.min(1, view.alpha * (chosen && pass === 1 ? 1.8 : 1) * Math.sqrt(each)));
      for (const [start, end] of found) {
        gl.vertexAttribPointer(0, 2, gl.UNSIGNED_SHORT, true, STRIDE * each, start * STRIDE);
        gl.vertexAttribPointer(1, 2, gl.UNSIGNED_SHORT, false, STRIDE * each, start * STRIDE + 4);
        gl.drawArrays(gl.POINTS, 0, Math.ceil((end - start) / each));
      }
    }
  }

  const bright = (view, at) =>
    ((view.theme ?? null) === null || data.packed[at * 4 + 2] === view.theme)
      && ((view.topic ?? null) === null || data.packed[at * 4 + 3] === view.topic);

  function drawPen(view) {
    const ratio = fit(view);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    const found = runs(view);
    const total = found.reduce((sum, [start, end]) => sum + end - start, 0);
    const each = Math.max(1, Math.ceil(total / (view.moving ? FEW / 4 : FEW)));
    const colours = shades();
    for (const [start, end] of found)
      for (let at = start; at < end; at += each) {
        const theme = data.packed[at * 4 + 2];
        const shade = (theme === NONE ? SHADES - 1 : theme % (SHADES - 4)) * 3;
        const [red, green, blue] = [0, 1, 2].map((part) => Math.round(colours[shade + part] * 255));
        pen.fillStyle = `rgba(${red},${green},${blue},${Math.min(1, view.alpha * Math.sqrt(each)) * (bright(view, at) ? 1 : 0.16)})`;
        const [x, y] = screen(view, at);
        pen.fillRect(x - view.size / 2, y - view.size / 2, view.size, view.size);
      }
  }

  const coordinate = (value) => value / 32767.5 - 1;
  const screen = (view, at) => [view.ax * coordinate(data.packed[at * 4]) + view.bx,
    view.ay * coordinate(data.packed[at * 4 + 1]) + view.by];

  function draw(view) {
    last = view;
    if (lost) return;
    if (gl) drawGpu(view);
    else if (pen) drawPen(view);
  }

  const told = (at) => ({
    at: data.from[at], x: coordinate(data.packed[at * 4]), y: coordinate(data.packed[at * 4 + 1]),
    theme: data.packed[at * 4 + 2] === NONE ? null : data.packed[at * 4 + 2],
    topic: data.packed[at * 4 + 3] === NONE ? null : data.packed[at * 4 + 3], row: data.row ? data.row[data.from[at]]
      : null,
  });

  function pick(u, v, ru, rv) {
    const span = (value, reach) => [value - reach,
      value + reach].map((one) => clamp(Math.floor(((one + 1) / 2) * GRID), 0, GRID - 1));
    const [left, right] = span(u, ru);
    const [low, high] = span(v, rv);
    let best = -1;
    let least = 1;
    for (let row = low; row <= high; row += 1)
      for (let at = data.starts[row * GRID + left]; at < data.starts[row * GRID + right + 1]; at += 1) {
        const far = ((coordinate(data.packed[at * 4]) - u) / ru) ** 2
          + ((coordinate(data.packed[at * 4 + 1]) - v) / rv) ** 2;
        if (far < least) [best, least] = [at, far];
      }
    return best < 0 ? null : told(best);
  }

  // The box that 98 of 100 points lie in, each way, to a cell of the grid; null for no points.
  function spread() {
    if (data.n === 0) return null;
    const [columns, rows] = [new Uint32Array(GRID), new Uint32Array(GRID)];
    for (let at = 0; at < GRID * GRID; at += 1) {
      const many = data.starts[at + 1] - data.starts[at];
      columns[at % GRID] += many;
      rows[Math.floor(at / GRID)] += many;
    }
    const ends = (counts) => {
      let [low, high, below, above] = [0, GRID - 1, counts[0], counts[GRID - 1]];
      while (below < data.n / 100) below += counts[(low += 1)];
      while (above < data.n / 100) above += counts[(high -= 1)];
      return [(2 * low) / GRID - 1, (2 * (high + 1)) / GRID - 1];
    };
    const [[x0, x1], [y0, y1]] = [ends(columns), ends(rows)];
    return [x0, y0, x1, y1];
  }

  function sample(n, [x0, y0, x1, y1]) {
    const inside = [];
    const each = Math.max(1, Math.floor(data.n / 400000));
    for (let at = 0; at < data.n; at += each) {
      const [x, y] = [coordinate(data.packed[at * 4]), coordinate(data.packed[at * 4 + 1])];
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1) inside.push(at);
    }
    const step = Math.max(1, inside.length / n);
    const out = [];
    for (let at = 0; at < inside.length && out.length < n; at += step) out.push(told(inside[Math.floor(at)]));
    return out;
  }

  return {
    get n() { return data.n; },
    get gpu() { return gl !== null; },
    get budget() { return budget; },
    set(next) {
      data = arrange(next ?? { x: [], y: [] });
      if (!gl || lost) return;
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data.packed, gl.STATIC_DRAW);
    },
    draw, pick, sample, spread,
    close() {
      if (gl) gl.getExtension("WEBGL_lose_context")?.loseContext();
      data = arrange({ x: [], y: [] });
    },
  };
}
