// Places for the nodes of a signed network: attracting pairs pull, avoiding pairs push, all keep a distance.
//
//   settle(nodes, links) -> [[x, y]] in the unit square; the same for the same input
//     nodes  [{x, y, r}]: where each starts (any units), and its radius relative to the others
//     links  [{a, b, strength}]: places in nodes; strength > 0 pulls, < 0 pushes

import { clamp } from "diln/scale.js";

const ROUNDS = (n) => (n > 400 ? 90 : n > 150 ? 220 : 420);

// Start: the places given, brought to one size, with a fixed small turn for those that lie on each other.
function start(nodes) {
  const n = nodes.length;
  const [mx, my] = ["x", "y"].map((axis) => nodes.reduce((sum, node) => sum + node[axis], 0) / n);
  const size = Math.sqrt(nodes.reduce((sum, node) => sum + (node.x - mx) ** 2 + (node.y - my) ** 2, 0) / n) || 1;
  return nodes.map((node, at) => {
    const turn = at * 2.399963;
    return [(node.x - mx) / size + 0.05 * Math.cos(turn), (node.y - my) / size + 0.05 * Math.sin(turn)];
  });
}

export function settle(nodes, links) {
  const n = nodes.length;
  if (n === 0) return [];
  if (n === 1) return [[0.5, 0.5]];
  const at = start(nodes);
  const gap = 2.4 / Math.sqrt(n); // distance that suits two nodes
  const rounds = ROUNDS(n);
  const move = Array.from({ length: n }, () => [0, 0]);
  for (let round = 0; round < rounds; round += 1) {
    const heat = 0.12 * (1 - round / rounds) ** 1.5 + 0.002;
    for (const one of move) one[0] = one[1] = 0;
    apart(at, move, gap);
    for (const link of links) pull(at, move, link, gap);
    for (let one = 0; one < n; one += 1) {
      move[one][0] -= 0.35 * at[one][0];
      move[one][1] -= 0.5 * at[one][1];
      const far = Math.hypot(move[one][0], move[one][1]) || 1;
      const step = Math.min(heat, far * 0.05) / far;
      at[one][0] += move[one][0] * step;
      at[one][1] += move[one][1] * step;
    }
  }
  return unit(at);
}

function apart(at, move, gap) {
  const n = at.length;
  for (let one = 0; one < n; one += 1)
    for (let two = one + 1; two < n; two += 1) {
      const [dx, dy] = [at[one][0] - at[two][0], at[one][1] - at[two][1]];
      const square = Math.max(dx * dx + dy * dy, 1e-4);
      if (square > 16 * gap * gap) continue;
      const push = (gap * gap) / square;
      move[one][0] += dx * push * 4;
      move[one][1] += dy * push * 4;
      move[two][0] -= dx * push * 4;
      move[two][1] -= dy * push * 4;
    }
}

function pull(at, move, { a, b, strength }, gap) {
  const [dx, dy] = [at[b][0] - at[a][0], at[b][1] - at[a][1]];
  const far = Math.hypot(dx, dy) || 1e-3;
  const much = clamp(Math.abs(strength), 0.3, 3);
  const force = strength > 0 ? 2.2 * much * (far - gap * 0.7) : -0.5 * much * Math.max(0, 1.6 - far);
  const [fx, fy] = [(dx / far) * force, (dy / far) * force];
  move[a][0] += fx;
  move[a][1] += fy;
  move[b][0] -= fx;
  move[b][1] -= fy;
}

function unit(at) {
  const axis = (which) => at.map((one) => one[which]);
  const ends = [0, 1].map((which) => [Math.min(...axis(which)), Math.max(...axis(which))]);
  return at.map((one) => [0, 1].map((which) => {
    const [low, high] = ends[which];
    return high - low < 1e-9 ? 0.5 : (one[which] - low) / (high - low);
  }));
}
