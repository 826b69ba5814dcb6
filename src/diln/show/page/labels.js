// Placing labels so that none lies on another.
//
//   placeLabels(wanted, {width, height}, solid, soft) -> [{...one, left, top}] of those that found a place
//     wanted  [{key, text, x, y, gap, wide, tall, priority}], in any order:
//             a label for the point (x, y), `gap` pixels away from it, of size wide x tall;
//             `reach` [across, down]: a label for an area of this size about the point, on it or at its rim
//     solid   boxes [left, top, right, bottom] that labels keep off
//     soft    boxes that labels cover only where no place is better
//   The most important are placed first. Each tries to the right, left, above and below its point, one for an area the
//   middle and then places further and further out.

class Boxes {
  constructor(width, height, cell = 48) {
    this.cell = cell;
    this.columns = Math.max(1, Math.ceil(width / cell));
    this.rows = Math.max(1, Math.ceil(height / cell));
    this.cells = new Map();
  }

  *near(box) {
    const clip = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value / this.cell)));
    for (let row = clip(box[1], this.rows); row <= clip(box[3], this.rows); row += 1)
      for (let column = clip(box[0], this.columns); column <= clip(box[2],
        this.columns); column += 1) yield row * this.columns + column;
  }

  free(box) {
    for (const at of this.near(box))
      for (const other of this.cells.get(at) ?? [])
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
    return true;
  }

  // How much of the box others cover.
  covered(box) {
    let area = 0;
    const met = new Set();
    for (const at of this.near(box))
      for (const other of this.cells.get(at) ?? []) {
        if (met.has(other)) continue;
        met.add(other);
        area += Math.max(0, Math.min(box[2], other[2]) - Math.max(box[0], other[0])) * Math.max(0,
          Math.min(box[3], other[3]) - Math.max(box[1], other[1]));
      }
    return area;
  }

  add(box) {
    for (const at of this.near(box)) {
      if (!this.cells.has(at)) this.cells.set(at, []);
      this.cells.get(at).push(box);
    }
  }
}

// Places of a label that belongs to an area, in parts of its reach: the middle first, the rim last.
const STEPS = [-1.25, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.25];
const AREA = STEPS.flatMap((across) => STEPS.map((down) => [across, down, Math.hypot(across, down)]))
  .sort((one, two) => one[2] - two[2]);
const FAR = 0.15; // what a place at the rim of an area costs beside one in the middle, as a share of the label covered

// [left, top, cost] of the places that a label may take.
function places({ x, y, gap, wide, tall, reach }) {
  if (reach) return AREA.map(([across, down, far]) => [
    x - wide / 2 + across * reach[0], y - tall / 2 + down * Math.max(reach[1], tall * 1.3), FAR * far,
  ]);
  const slant = gap * 0.72;
  return [
    [x + gap, y - tall / 2], [x - gap - wide, y - tall / 2], [x - wide / 2, y - gap - tall], [x - wide / 2, y + gap],
    [x + slant, y + slant], [x + slant, y - slant - tall], [x - slant - wide, y + slant], [x - slant - wide,
      y - slant - tall],
  ].map((place) => [...place, 0]);
}

export function placeLabels(wanted, { width, height }, solid = [], soft = []) {
  const boxes = new Boxes(width, height);
  const others = new Boxes(width, height);
  for (const box of solid) boxes.add(box);
  for (const box of soft) others.add(box);
  const placed = [];
  for (const one of [...wanted].sort((a, b) => b.priority - a.priority)) {
    let best = null;
    let least = Infinity;
    for (const [left, top, far] of places(one)) {
      if (far >= least) break;
      const box = [left - 2, top - 1, left + one.wide + 2, top + one.tall + 1];
      if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height || !boxes.free(box)) continue;
      const cost = far + others.covered(box) / (one.wide * one.tall);
      if (cost < least - 0.08) [best, least] = [[left, top, box], cost];
      if (cost === 0) break;
    }
    if (!best) continue;
    boxes.add(best[2]);
    placed.push({ ...one, left: best[0], top: best[1] });
  }
  return placed;
}
