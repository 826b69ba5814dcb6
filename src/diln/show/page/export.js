// Saving what is seen: SVG, PNG, CSV, and the row of buttons that every view can have.
//
//   saveSVG(view, name), savePNG(view, name, scale = 2), saveCSV(view or table, name): start a download
//   svgText(svg) -> text of a file; csvText(table) -> text with full precision (data-value of cells)
//   tools(view, name, host) -> <div class="view-tools"> with "As a table", "SVG", "PNG", "CSV";
//       "As a table" shows view.table() in place of `host` (the element that the view draws in), and back

import { html, standalone } from "diln/svg.js";

export const svgText = (svg) => `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const picture = (view) => (view instanceof SVGSVGElement ? standalone(view) : view.svg());

export function saveSVG(view, name = "view") {
  const svg = picture(view);
  if (svg) download(new Blob([svgText(svg)], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function pngBlob(view, scale = 2) {
  const svg = picture(view);
  if (!svg) return null;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(Number(svg.getAttribute("width")) * scale);
  canvas.height = Math.round(Number(svg.getAttribute("height")) * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export async function savePNG(view, name = "view", scale = 2) {
  const blob = await pngBlob(view, scale);
  if (blob) download(blob, `${name}.png`);
}

export function csvText(table) {
  // A cell that a spreadsheet would take for a formula, by its first sign that can be seen, gets a quote before it.
  const formula = /^(?:[\t\r]|[\p{C}\p{M}\p{Z}\u115f\u1160\u2800\u3164\uffa0]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/u;
  const safe = (text) => (formula.test(text) && !/^[-+]?[\d.]+(e[-+]?\d+)?%?$/i.test(text) ? `'${text}` : text);
  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [...table.rows].map((row) => [...row.cells].map((cell) =>
    quote(safe(cell.dataset.value ?? cell.textContent))).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

export function saveCSV(view, name = "view") {
  const table = view instanceof HTMLTableElement ? view : view.table();
  download(new Blob(["\ufeff", csvText(table)], { type: "text/csv;charset=utf-8" }), `${name}.csv`);
}

export function tools(view, name, host) {
  let twin = null;
  const toggle = html("button", { type: "button", "aria-pressed": "false", onclick: swap }, "As a table");
  function swap() {
    if (twin) {
      twin.remove();
      twin = null;
      host.hidden = false;
    } else {
      twin = html("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": `${name}, as a table` },
        view.table());
      host.after(twin);
      host.hidden = true;
    }
    toggle.setAttribute("aria-pressed", String(twin !== null));
  }
  return html(
    "div", { class: "view-tools", role: "group", "aria-label": `Show or save: ${name}` }, toggle,
    html("button", { type: "button", title: "Save as SVG", onclick: () => saveSVG(view, name) }, "SVG"),
    html("button", { type: "button", title: "Save as PNG", onclick: () => savePNG(view, name) }, "PNG"),
    html("button", { type: "button", title: "Save as CSV", onclick: () => saveCSV(view, name) }, "CSV"),
  );
}
