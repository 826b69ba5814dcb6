// What is written on the map: themes, topics, documents, the origin, a marked place; the most important first.
//
//   captions({scene, state, cursor, rows, k, scale, stage, place, radiusOf, lit, chosen, mark, markName, deep})
//       -> labels with a place each, none on another: [{key, text, left, top, tall, size, weight, theme?, row?}]
//     k, scale  zoom, and pixels of one unit of the model; place(x, y) -> [px, py]; deep: zoom of documents
//   caption(one, theme)  its element; themes other than the selected one are paler

import { themeColour, themeMark } from "diln/colour.js";
import { placeLabels } from "diln/labels.js";
import { reach } from "diln/places.js";
import { clamp } from "diln/scale.js";
import { el, fit, measure } from "diln/svg.js";

const FAR = 2.6; // zoom up to which themes come before topics
const AREA = 15000; // square pixels for each topic's label, at most so many are tried
const CORNER = [46, 118]; // width and height of the buttons at the top right, which stay free

export function captions(map) {
  const { scene, stage, place, radiusOf, k, deep, rows } = map;
  const circles = scene.topics.slice(0, 300).map((topic) => {
    const [x, y] = place(topic.x, topic.y);
    const r = radiusOf(topic) * 0.85;
    return [x - r, y - r, x + r, y + r];
  });
  const wanted = [...scene.themes.map((theme) => ofTheme(map, theme)), ...ofTopics(map),
    ...rows.map((row) => ofDocument(map, row)), ...ofPlaces(map)];
  const inside = wanted.filter(({ x, y, theme }) =>
    theme || (x >= 0 && y >= 0 && x <= stage.width && y <= stage.height));
  return placeLabels(inside, stage, [[stage.width - CORNER[0], 0, stage.width, CORNER[1]]], k < deep ? circles : []);
}

function label(key, text, x, y, gap, size, weight, priority, more = {}) {
  return { key, text, x, y, gap, size, weight, wide: measure(text, size, weight), tall: size * 1.25, priority,
    ...more };
}

function ofTheme({ place, scale, stage, k }, theme) {
  const far = k < FAR;
  const size = far ? clamp(12 + 22 * theme.share, 13, stage.width < 560 ? 13 : 17) : 12;
  const text = `${themeMark(theme.id)}\u2002${fit(theme.label, Math.min(200, stage.width * 0.34), size, 650)}`;
  return label(`t${theme.id}`, text, ...place(theme.x, theme.y), 10, size, 650, (far ? 1e6 : 1e3) + theme.share,
    { theme, reach: reach(theme).map((far) => far * scale) });
}

function ofTopics({ scene, state, cursor, place, radiusOf, lit, chosen, stage, k }) {
  const room = Math.round(((stage.width * stage.height) / AREA) * clamp(k, 0.8, 30));
  const out = [];
  for (const topic of scene.topics) {
    const [x, y] = place(topic.x, topic.y);
    if (x < 0 || y < 0 || x > stage.width || y > stage.height) continue;
    const mine = topic.id === state.topic;
    const special = mine || topic.id === cursor || topic.id === state.hover?.topic;
    const bright = lit(topic);
    if (!special && ((chosen && !bright) || out.length >= room)) continue;
    const weight = mine ? 650 : 400;
    const text = fit(topic.label, Math.min(220, stage.width * 0.45), 12, weight);
    out.push(label(topic.id, text, x, y, radiusOf(topic) + 4, 12, weight,
      topic.share + (mine ? 4e6 : special ? 2e6 : chosen && bright ? 1e4 : 0)));
  }
  return out;
}

function ofDocument({ place }, row) {
  return label(`d${row.row}`, fit(row.title || `document ${row.row}`, 190, 11), ...place(row.x, row.y), 6, 11, 400,
    1e-9, { row });
}

function ofPlaces({ scene, place, mark, markName }) {
  const origin = label("origin", "origin", ...place(...scene.origin), 9, 11, 400, 900);
  return mark ? [origin, label("place", markName ?? "your text", ...place(...mark), 12, 12, 650, 3e6)] : [origin];
}

export function caption(one, theme) {
  return el("text", {
    x: one.left.toFixed(1), y: (one.top + one.tall * 0.78).toFixed(
      1), "font-size": one.size, "font-weight": one.weight, "data-key": one.key,
    fill: one.row || one.key === "origin" ? "var(--soft)"
      : one.theme ? `color-mix(in srgb, ${themeColour(one.theme.id)} 45%, var(--ink))`
      : "var(--ink)", stroke: "var(--card)", "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke",
    opacity: one.theme && (theme ?? one.theme.id) !== one.theme.id ? 0.55 : null,
  }, one.text);
}
