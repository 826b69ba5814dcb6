// One curve with its axes: a value along the sweeps of a fit.
import { count } from "app/format.js";
import { ticks } from "diln/scale.js";
import { el } from "diln/svg.js";

const [WIDTH, HEIGHT] = [460, 200];
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 12, 10, 26];

const short = (value) => (Math.abs(value) >= 1000 ? count(Math.round(value)) : String(Number(value.toPrecision(4))));

/** Round numbers along an axis, all with as many decimals as one of them needs: [value, text]. */
function marks(low, high) {
  const values = ticks(low, high, 5);
  const decimals = Math.max(...values.map((value) => (short(value).split(".")[1] ?? "").length));
  const told = (value) => (Math.abs(value) >= 1000 ? count(Math.round(value)) : value.toFixed(decimals));
  return values.map((value) => [value, told(value).replace("-", "\u2212")]);
}

/** The middle of what was seen late decides the range, so that a wild start does not flatten the rest. */
function range(values) {
  const late = values.slice(Math.floor(values.length / 10));
  const [low, high] = [Math.min(...late), Math.max(...late)];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - room, high + room];
}

const text = (content, attributes) => {
  const node = el("text", { "font-size": 11, fill: "var(--soft)", ...attributes });
  node.textContent = content;
  return node;
};

/** The axes of a plot from `first` to `last` and `low` to `high`, how far right and up values are, and its frame. */
function plot([first, last], [low, high], said, name) {
  const across = (value) => LEFT + ((value - first) / (last - first || 1)) * (WIDTH - LEFT - RIGHT);
  const near = (value) => Math.min(Math.max(value, 2 * low - high), 2 * high - low); // what is far outside is cut off anyway
  const up = (value) => HEIGHT - BOTTOM - ((near(value) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const clip = `clip-${name}`;
  const frame = (...content) => el("svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, class: "curve", role: "img", "aria-label": said },
    ...marks(low, high).flatMap(([value, told]) => [
      el("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(value), y2: up(value), stroke: "var(--faint)" }),
      text(told, { x: LEFT - 6, y: up(value) + 4, "text-anchor": "end" }),
    ]),
    ...marks(first, last).map(([value, told]) => text(told, { x: across(value), y: HEIGHT - 8, "text-anchor": "middle" })),
    el("clipPath", { id: clip }, el("rect", { x: LEFT, y: 0, width: WIDTH, height: HEIGHT - BOTTOM })),
    ...content);
  const path = (points, attributes) => el("path", {
    "clip-path": `url(#${clip})`, fill: "none", "stroke-width": 2, "stroke-linejoin": "round", ...attributes,
    d: points.map(({ x, y }, i) => `${i ? "L" : "M"}${across(x).toFixed(1)} ${up(y).toFixed(1)}`).join(""),
  });
  return { across, up, frame, path };
}

/** An SVG of rows' values `y` along `x`; its label says from where to where it goes. */
export function curve(rows, x, y, title) {
  const values = rows.map((row) => row[y]);
  const [first, last] = [rows[0][x], rows.at(-1)[x]];
  const said = `${title}: from ${short(values[0])} at sweep ${first} to ${short(values.at(-1))} at sweep ${last}.`;
  const { across, up, frame, path } = plot([first, last], range(values), said, y);
  return frame(path(rows.map((row) => ({ x: row[x], y: row[y] })), { stroke: "var(--accent)" }),
    el("circle", { cx: across(last), cy: up(values.at(-1)), r: 3.5, fill: "var(--accent)" }));
}

/** An SVG of several lines from -1 to 1: above 0 at the end they are solid, below dashed. */
export function bundle(lines) {
  const sweeps = lines.flatMap(({ points }) => [points[0].x, points.at(-1).x]);
  const ends = lines.map(({ points }) => points.at(-1).y);
  const said = `Correlations of ${lines.length} pairs: ${ends.filter((end) => end > 0).length} are above 0 at the end.`;
  const { frame, path, up } = plot([Math.min(...sweeps), Math.max(...sweeps)], [-1, 1], said, "pairs");
  return frame(el("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(0), y2: up(0), stroke: "var(--soft)" }),
    ...lines.map(({ name, points }) => {
      const above = points.at(-1).y > 0;
      const line = path(points, { stroke: above ? "var(--attract)" : "var(--avoid)", "stroke-width": 1.4, "stroke-dasharray": above ? "none" : "5 3" });
      const tip = el("title", {});
      tip.textContent = `topics ${name}: ${points.at(-1).y.toFixed(2)}`;
      line.append(tip);
      return line;
    }));
}
