// Parts that several cards and views have: bars, sparklines, documents, sections.
import { topicLink } from "app/book.js";
import { h, link } from "app/dom.js";
import { clip, count, day, percent } from "app/format.js";
import { themeColour } from "diln/colour.js";
import { el } from "diln/svg.js";

/** The heading of a view, with its controls beside it. */
export const viewHead = (title, ...controls) => h("div", { class: "view-head" }, h("h2", {}, title), h("div", { class: "controls" }, ...controls));

/** A number beside a bar, and a remark below a list. */
export const number = (...text) => h("span", { class: "number" }, ...text);
export const note = (...text) => h("p", { class: "note" }, ...text);

/** A titled part of a card; nothing if it has no content. */
export function section(title, ...children) {
  const content = children.flat().filter(Boolean);
  return content.length ? h("section", { class: "part" }, h("h3", {}, title), ...content) : null;
}

/** A bar for a value of at most `most`, in a colour; the number stands beside it. */
export function bar(value, most, colour = "var(--accent)") {
  const width = `${Math.max(0, Math.min(100, (100 * value) / (most || 1)))}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, h("span", { css: { width, background: colour } }));
}

/** Facts as a list of terms and values; unknown ones are left out. */
export function facts(rows) {
  return h("dl", { class: "facts" }, rows.filter((row) => row && row[1] !== null && row[1] !== undefined)
    .map(([name, value, title]) => h("div", { title }, h("dt", {}, name), h("dd", {}, value))));
}

/** Places of the periods that have a share, those next to each other together. */
function runsOf(values) {
  const runs = [];
  values.forEach((value, i) => {
    if (value === null) return;
    if (runs.length && runs.at(-1).at(-1) === i - 1) runs.at(-1).push(i);
    else runs.push([i]);
  });
  return runs;
}

/** Values over time with their band, small, and gaps where there are too few documents; the caption says the same in words. */
export function sparkline(series, periods, colour = "var(--accent)") {
  const { values, low, high } = series;
  const known = values.map((_, i) => i).filter((i) => values[i] !== null);
  if (values.length < 2 || !known.length) return null;
  const [width, height] = [320, 64];
  const top = Math.max(...known.map((i) => Math.max(values[i], high?.[i] ?? 0)), 1e-12);
  const x = (i) => (i / (values.length - 1)) * (width - 4) + 2;
  const y = (value) => height - 4 - (Math.min(value, top) / top) * (height - 10);
  const line = (places, list) => places.map((i, at) => `${at ? "L" : "M"}${x(i).toFixed(1)} ${y(list[i] ?? values[i]).toFixed(1)}`).join("");
  const parts = [];
  for (const run of runsOf(values)) {
    if (low && high) {
      const back = line([...run].reverse(), low).replace("M", "L");
      parts.push(el("path", { d: `${line(run, high)}${back}Z`, fill: colour, opacity: 0.18 }));
    }
    parts.push(run.length > 1
      ? el("path", { d: line(run, values), fill: "none", stroke: colour, "stroke-width": 2, "stroke-linejoin": "round" })
      : el("circle", { cx: x(run[0]), cy: y(values[run[0]]), r: 2, fill: colour }));
  }
  const best = known.reduce((most, i) => (values[i] > values[most] ? i : most), known[0]);
  const [first, last] = [known[0], known.at(-1)];
  parts.push(el("circle", { cx: x(best), cy: y(values[best]), r: 3, fill: colour }));
  const said = `From ${percent(values[first])} in ${periods[first]} to ${percent(values[last])} in ${periods[last]}; most in ${periods[best]} (${percent(values[best])}).`;
  return h("figure", { class: "spark" },
    el("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said, preserveAspectRatio: "none" }, ...parts),
    h("div", { class: "spark-ends", "aria-hidden": "true" }, h("span", {}, periods[0]), h("span", {}, periods.at(-1))),
    h("figcaption", {}, said));
}

/** A text in which hits stand between two control characters, as elements. */
export function marked(text) {
  return String(text ?? "").split(/\u0002([^\u0003]*)\u0003/).map((part, i) => (i % 2 ? h("mark", {}, part) : part));
}

/** A document's topics as one bar; the text beside it names them. */
function mixture(app, topics) {
  const said = topics.map((one) => `${app.book.name(one.id)} ${percent(one.share)}`).join("; ");
  return h("span", { class: "mixture", role: "img", "aria-label": `Topics: ${said}`, title: said }, topics.map((one) => h("span", {
    css: { width: `${(100 * one.share).toFixed(2)}%`, background: themeColour(app.book.themeOf(one.id)) },
  })));
}

/** What is known of a document in one line. */
export function about(one) {
  return [one.date && day(one.date), one.label, one.n_tokens !== null && one.n_tokens !== undefined && `${count(one.n_tokens)} words`].filter(Boolean).join(" · ");
}

/** A document of a list: title, facts, topics, a few words of it. */
export function documentItem(app, one, extra = null, lines = null) {
  const title = one.title || one.id || `document ${one.row}`;
  return h("li", { class: "doc", "data-row": one.row },
    link(app.store, { view: "documents", document: one.row }, clip(title, 160), { class: "doc-title" }),
    h("p", { class: "doc-about" }, [about(one), extra].filter(Boolean).join(" · ")),
    one.topics?.length ? mixture(app, one.topics) : null,
    lines ?? (one.snippet ? h("p", { class: "doc-text" }, marked(one.snippet)) : null));
}

/** Documents that are near something, with how near. */
export function neighbours(app, found) {
  return h("ol", { class: "docs" }, found.map((one) => documentItem(app, one.document, `${percent(one.similarity)} alike`)));
}

/** Shares of topics as rows with bars. */
export function shareRows(app, topics, colourOf = (one) => themeColour(app.book.themeOf(one.id))) {
  const most = Math.max(...topics.map((one) => one.share), 1e-12);
  const row = (one) => h("li", {}, topicLink(app, one.id), bar(one.share, most, colourOf(one)), number(percent(one.share)));
  return h("ol", { class: "shares" }, topics.map(row));
}
