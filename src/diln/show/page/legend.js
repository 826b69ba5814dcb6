// Keys to the views: themes by colour and letter, signs by line.
//
//   themeLegend(themes, chosen, onTheme)  buttons, one for each theme
//   signedLegend(pairs)                   what solid and dashed lines mean

import { ATTRACT, AVOID, themeColour, themeMark } from "diln/colour.js";
import { el, html } from "diln/svg.js";

export function themeLegend(themes, chosen, onTheme) {
  const item = (theme) => html(
    "button", { type: "button", class: "item", "aria-pressed": String(theme.id === chosen),
      title: (theme.words ?? []).join(", "), onclick: () => onTheme(theme.id === chosen ? null : theme.id) },
    html("span", { class: "swatch", style: { background: themeColour(theme.id) }, "aria-hidden": "true" }), html("b",
      {}, themeMark(theme.id)), theme.label,
  );
  return html("div", { class: "view-legend", role: "group", "aria-label": "Themes" }, ...themes.map(item));
}

function stroke(way) {
  const line = el("line", { x1: 1, y1: 6, x2: 31, y2: 6, stroke: way.colour, "stroke-width": 2,
    "stroke-dasharray": way.dash });
  const bar = way === AVOID ? el("line", { x1: 16, y1: 1, x2: 16, y2: 11, stroke: way.colour, "stroke-width": 2 })
    : null;
  return el("svg", { width: 32, height: 12, "aria-hidden": "true" }, line, bar);
}

export function signedLegend(pairs) {
  const known = pairs.some((pair) => pair.sure === true);
  const item = (way, words) => html("span", { class: "item" }, stroke(way), words);
  return html(
    "div", { class: "view-legend" }, item(ATTRACT, "go together more often than by chance"), item(AVOID,
      "avoid each other"),
    html("span", { class: "item" }, known ? "Sure pairs only; thicker is stronger." : "Thicker is stronger."),
  );
}
