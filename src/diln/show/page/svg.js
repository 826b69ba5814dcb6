// Small helpers to make elements and to fit text.
//
//   el(name, attributes, ...children)   an SVG element; fill and stroke may be CSS expressions (var(--ink))
//   html(name, attributes, ...children) an HTML element; attributes that begin with "on" are listeners
//   measure(text, size, weight)         width in pixels of text in the page's font
//   fit(text, width, size, weight)      the text, cut with an ellipsis where it is wider, after a word if one ends near
//   table(caption, columns, rows)       an HTML table; columns are names, or [name, format] for numbers
//   standalone(svg)                     a copy for a file: colours resolved, font and background in it

import { resolve } from "diln/colour.js";

const SPACE = "http://www.w3.org/2000/svg";
const PAINT = new Set(["fill", "stroke", "stop-color", "flood-color"]);

export function el(name, attributes = {}, ...children) {
  const node = document.createElementNS(SPACE, name);
  set(node, attributes);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function set(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) {
      node.removeAttribute(key);
      if (PAINT.has(key)) node.style.removeProperty(key);
    } else if (PAINT.has(key) && String(value).includes("var(")) {
      node.style.setProperty(key, value);
    } else {
      if (PAINT.has(key)) node.style.removeProperty(key);
      node.setAttribute(key, value);
    }
  }
  return node;
}

export function html(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(node.style, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif';
let pen = null;
const widths = new Map();

export function measure(text, size = 12, weight = 400) {
  const key = `${weight}\u0000${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = `${weight} 100px ${FONT}`;
    width = pen.measureText(text).width / 100;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return width * size;
}

const NEAR = 0.5; // of what fits: a word that ends before is too far off

export function fit(text, width, size = 12, weight = 400) {
  if (measure(text, size, weight) <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`${text.slice(0, middle).trimEnd()}…`, size, weight) <= width) low = middle;
    else high = middle - 1;
  }
  if (low === 0) return "";
  const end = Math.max(text.lastIndexOf(" ", low), text.lastIndexOf(",", low));
  return `${text.slice(0, end >= NEAR * low ? end : low).replace(/[\s,]+$/, "")}…`;
}

export function table(caption, columns, rows) {
  const heads = columns.map((column) => (Array.isArray(column) ? column : [column, null]));
  const head = html("tr", {}, ...heads.map(([name, form]) =>
    html("th", { scope: "col", class: form && "number" }, name)));
  const cell = (value, form) => {
    const known = value !== null && value !== undefined && value === value;
    const shown = !known ? "" : form ? form(value) : String(value);
    const node = html("td", { class: form && "number" }, shown);
    if (form && known) node.dataset.value = String(value);
    return node;
  };
  const body = rows.map((row) => html("tr", {}, ...row.map((value, at) => cell(value, heads[at][1]))));
  return html("table", {}, html("caption", {}, caption), html("thead", {}, head), html("tbody", {}, ...body));
}

export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const box = svg.viewBox.baseVal;
  const width = (box && box.width) || Number(svg.getAttribute("width")) || 1;
  const height = (box && box.height) || Number(svg.getAttribute("height")) || 1;
  copy.setAttribute("xmlns", SPACE);
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("font-family", FONT);
  copy.removeAttribute("style");
  copy.removeAttribute("aria-hidden");
  for (const node of [...copy.querySelectorAll("*")]) {
    if (node.style && node.style.display === "none") node.remove();
    else bake(node);
  }
  copy.prepend(el("rect", { width, height, fill: resolve("var(--card)") }));
  return copy;
}

function bake(node) {
  for (const key of PAINT) {
    const value = node.style ? node.style.getPropertyValue(key) : "";
    if (value) node.setAttribute(key, value.includes("var(") ? resolve(value) : value);
  }
  node.removeAttribute("style");
  node.removeAttribute("class");
  node.removeAttribute("tabindex");
}
