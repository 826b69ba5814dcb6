// What the map knows apart from drawing it: where topics and themes lie, how large, and the same as a table.
//
//   layout(data) -> {topics: [{id, label, share, theme, x, y, ...}], themes: [{id, label, share, x, y, a, b, turn}],
//                    pairs: [{first, second, log_lift, sure, ...}], origin: [x, y], byId: Map}
//     x, y in the model's coordinates; a, b, turn: the ellipse that holds most of a theme's topics
//   fitBox(scene, width, height, [x0, y0, x1, y1] of documents) -> {s, cx, cy}: pixel = s * (x - cx), -s * (y - cy) from the middle
//   nextTopic(topics, from, key)  the topic that an arrow key leads to
//   mapTable(scene), mapSummary(scene, map), mapTip(scene, state, found)

import { themeMark } from "diln/colour.js";
import { count, digits, pairWords, percent, times } from "diln/scale.js";
import { table } from "diln/svg.js";
import { pairList, themeList, topicsById } from "diln/view.js";

export function layout(data) {
  const known = topicsById(data.topics, data.themes);
  const points = (data.map && data.map.points) || [];
  const topics = points.filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y)).map((point) => ({
    label: `topic ${point.id}`, share: 0, theme: null, words: [], ...known.get(
      point.id), id: point.id, x: point.x, y: point.y,
  }));
  topics.sort((one, two) => two.share - one.share);
  const byId = new Map(topics.map((topic) => [topic.id, topic]));
  const centres = new Map(((data.map && data.map.themes) || []).map((point) => [point.id, point]));
  const themes = themeList(data.themes).map((theme) =>
    ellipse(theme, topics.filter((topic) => topic.theme === theme.id), centres.get(theme.id)));
  const pairs = pairList(data.pairs).filter((pair) => byId.has(pair.first) && byId.has(pair.second));
  return { topics, themes: themes.filter(Boolean), pairs, origin: (data.map && data.map.origin) || [0, 0], byId };
}

// Mean and spread of a theme's topics, weighted by share.
function ellipse(theme, topics, centre) {
  if (topics.length === 0) return centre ? { ...theme, x: centre.x, y: centre.y, a: 0.05, b: 0.05, turn: 0 } : null;
  const total = topics.reduce((sum, topic) => sum + topic.share, 0) || 1;
  const weight = (topic) => (total === 1 && topic.share === 0 ? 1 / topics.length : topic.share / total);
  const mean = (value) => topics.reduce((sum, topic) => sum + weight(topic) * value(topic), 0);
  const [x, y] = [mean((topic) => topic.x), mean((topic) => topic.y)];
  const [xx, yy] = [mean((topic) => (topic.x - x) ** 2), mean((topic) => (topic.y - y) ** 2)];
  const xy = mean((topic) => (topic.x - x) * (topic.y - y));
  const middle = (xx + yy) / 2;
  const half = Math.hypot((xx - yy) / 2, xy);
  const axis = (variance) => 1.5 * Math.sqrt(Math.max(0, variance)) + 0.035;
  return { ...theme, x, y, a: axis(middle + half), b: axis(middle - half), turn: Math.atan2(2 * xy, xx - yy) / 2 };
}

// How far an ellipse reaches across and up.
export function reach({ a, b, turn }) {
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  return [Math.hypot(a * cos, b * sin), Math.hypot(a * sin, b * cos)];
}

export function fitBox({ topics, themes, origin }, width, height, documents = null) {
  const areas = themes.map((theme) => ({ theme, far: reach(theme) }));
  const rims = (axis, along) => areas.flatMap(({ theme, far }) => [theme[axis] - far[along], theme[axis] + far[along]]);
  const ends = (values) => [Math.min(...values), Math.max(...values)];
  // Documents widen the view by two fifths at most.
  const widen = ([from, to], low, high) => {
    const more = (to - from) / 5;
    return documents ? [Math.max(Math.min(from, low), from - more), Math.min(Math.max(to, high), to + more)]
      : [from, to];
  };
  const [left, right] = widen(ends([...topics.map((topic) => topic.x), ...rims("x", 0), origin[0]]),
    documents?.[0], documents?.[2]);
  const [low, high] = widen(ends([...topics.map((topic) => topic.y), ...rims("y", 1), origin[1]]),
    documents?.[1], documents?.[3]);
  const margin = Math.min(44, width * 0.1);
  const s = Math.min((width - 2 * margin) / Math.max(right - left, 0.2),
    (height - 2 * Math.min(margin, height * 0.1)) / Math.max(high - low, 0.2));
  return { s: Math.max(1, s), cx: (left + right) / 2, cy: (low + high) / 2 };
}

const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// The nearest topic in the direction of the key; being off to the side counts double.
export function nextTopic(topics, from, key) {
  const way = WAYS[key];
  if (!way || topics.length === 0) return null;
  if (!from) return topics[0];
  let best = null;
  let least = Infinity;
  for (const topic of topics) {
    const [dx, dy] = [topic.x - from.x, topic.y - from.y];
    const along = dx * way[0] + dy * way[1];
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (topic === from || along <= 0 || aside > 2 * along) continue;
    const far = along + 2 * aside;
    if (far < least) [best, least] = [topic, far];
  }
  return best ?? from;
}

export function partners({ pairs, byId }, id, sign) {
  const mine = pairs.filter((pair) => (pair.first === id || pair.second === id) && Math.sign(pair.log_lift) === sign);
  return mine.map((pair) => ({ pair, topic: byId.get(pair.first === id ? pair.second : pair.first) }));
}

export function mapTable(scene) {
  const theme = new Map(scene.themes.map((one) => [one.id, one.label]));
  const list = (id, sign) => partners(scene, id, sign).map(({ pair, topic }) =>
    `${topic.label} (${times(pair.lift ?? Math.exp(pair.log_lift))})`).join("; ");
  const columns = ["Topic", "Label", "Theme", ["Share", percent], ["Documents", count], ["x", digits], ["y", digits],
    "Goes with", "Avoids"];
  const rows = scene.topics.map((topic) => [
    topic.id, topic.label, theme.get(topic.theme) ?? "", topic.share, topic.n_docs, topic.x, topic.y, list(topic.id,
      1), list(topic.id, -1),
  ]);
  return table(`Map: ${count(rows.length)} topics, largest first`, columns, rows);
}

export function mapSummary({ topics, themes, pairs }, map) {
  if (topics.length === 0) return "Map: no topics to show";
  const seen = map && Number.isFinite(map.explained) ? ` This view shows ${percent(map.explained)} of their variation.`
    : "";
  const groups = themes.length ? ` in ${themes.length} theme${themes.length === 1 ? "" : "s"}` : "";
  const largest = themes.length ? themes.slice(0, 3).map((theme) =>
    `${theme.label} (${percent(theme.share)})`).join("; ") : topics[0].label;
  const together = pairs.filter((pair) => pair.log_lift > 0).length;
  const lines = pairs.length ? ` Lines: ${together} pairs that go together, ${pairs.length - together} that avoid each other.` : "";
  return `Map of ${topics.length} topic${topics.length === 1 ? "" : "s"}${groups}. Largest: ${largest}.${lines}${seen} Arrow keys go from topic to topic, Enter selects, plus and minus zoom.`;
}

// What is told of something that is pointed at: a pair, a document, a theme or a topic.
export function mapTip(scene, state, found) {
  if (!found) return null;
  if (found.pair) return `${scene.byId.get(found.pair.first).label}\n${scene.byId.get(found.pair.second).label}\n${pairWords(found.pair)}`;
  if (found.row) return found.row.title || `Document ${found.row.row}`;
  if (found.point) return `Document, mostly ${scene.byId.get(found.point.topic)?.label ?? "of another topic"}`;
  if ((found.theme ?? null) !== null) {
    const theme = scene.themes.find((one) => one.id === found.theme);
    return `Theme ${themeMark(theme.id)}: ${theme.label}\n${percent(theme.share)} of all words, ${count(theme.topics?.length ?? 0)} topics`;
  }
  const topic = scene.byId.get(found.topic);
  if (!topic) return null;
  const docs = Number.isFinite(topic.n_docs) ? `, ${count(topic.n_docs)} documents` : "";
  const pair = (state.topic ?? topic.id) !== topic.id
    && scene.pairs.find((one) => [one.first, one.second].includes(topic.id)
    && [one.first, one.second].includes(state.topic));
  return `${topic.label}\n${percent(topic.share)} of all words${docs}${pair ? `\nWith the selected topic: ${pairWords(pair)}` : ""}`;
}
