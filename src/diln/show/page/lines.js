// Lines between topics of a pair: solid where they attract, dashed with a bar across where they avoid each other.
//
//   openLine(pair) -> {pair, nodes, hide(), place([x1, y1], [x2, y2], r1, r2, opacity), far(x, y)}
//       place draws it from circle to circle; far is the distance of a point from it, Infinity if it is hardly seen
//   nearest(lines, x, y) -> the pair whose line is within a few pixels, or null

import { ATTRACT, AVOID } from "diln/colour.js";
import { clamp } from "diln/scale.js";
import { el, set } from "diln/svg.js";

const ARM = 6; // half the length of the bar
const SEEN = 0.15; // opacity of a line that can be pointed at
const NEAR = 5; // pixels

export function openLine(pair) {
  const way = pair.log_lift > 0 ? ATTRACT : AVOID;
  const look = { stroke: way.colour, "stroke-width": clamp(0.6 + 0.8 * Math.abs(pair.log_lift), 1, 4).toFixed(2) };
  const line = el("line", { ...look, "stroke-dasharray": way.dash });
  const bar = way === AVOID ? el("line", { ...look, "stroke-width": 2.4 }) : null;
  const nodes = bar ? [line, bar] : [line];
  let ends = null;
  return {
    pair, nodes,
    far(x, y) {
      if (!ends) return Infinity;
      const [x1, y1, x2, y2] = ends;
      const [dx, dy] = [x2 - x1, y2 - y1];
      const along = clamp(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1), 0, 1);
      return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
    },
    hide() {
      ends = null;
      for (const node of nodes) node.style.display = "none";
    },
    place([x1, y1], [x2, y2], r1, r2, opacity) {
      ends = opacity >= SEEN ? [x1, y1, x2, y2] : null;
      const long = Math.hypot(x2 - x1, y2 - y1) || 1;
      const [ux, uy] = [(x2 - x1) / long, (y2 - y1) / long];
      const [from, to] = [Math.min(r1, long / 2), long - Math.min(r2, long / 2)];
      const at = (far, aside = 0) => [(x1 + ux * far - uy * aside).toFixed(1), (y1 + uy * far + ux * aside).toFixed(1)];
      const join = (node, [a, b], [c, d]) => {
        node.style.display = "";
        set(node, { x1: a, y1: b, x2: c, y2: d, "stroke-opacity": opacity });
      };
      join(line, at(from), at(to));
      if (bar) join(bar, at((from + to) / 2, ARM), at((from + to) / 2, -ARM));
    },
  };
}

export function nearest(lines, x, y) {
  let [best, least] = [null, NEAR];
  for (const one of lines) {
    const far = one.far(x, y);
    if (far < least) [best, least] = [one.pair, far];
  }
  return best;
}

export const joins = (pair, one, two) => (pair.first === one && pair.second === two)
  || (pair.first === two && pair.second === one);
