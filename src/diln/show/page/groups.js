// Shares of topics or themes by label, with intervals; see bars.js, which hands this on.

import { themeColour } from "diln/colour.js";
import { clamp, count, digits, linear, percent } from "diln/scale.js";
import { el, fit, measure, set, standalone, table } from "diln/svg.js";
import { openStage, themeList, topicsById } from "diln/view.js";

const ROW = 26;
const MOST = 40; // labels that are shown, the largest first
const NARROW = 54; // pixels that a column needs at least
const often = (lift) => (Number.isFinite(lift) ? digits(lift) : "any number"); // the end of an interval, if it has one
const chance = (p) => (p < 0.001 ? "< 0.001" : p.toFixed(3));

export function createGroups(host, data, options = {}) {
  let groups;
  let labels; // shown
  let items; // [{id, name, colour, cells: Map(label -> cell), most}]
  let state = {};
  let cursor = null; // [item, label]
  let area = {};
  const stage = openStage(host, { kind: "groups", height: tall, draw, key });
  const svg = el("svg", { "aria-hidden": "true" });
  stage.node.append(svg);
  stage.node.addEventListener("pointermove", (event) => point(spot(event), event));
  stage.node.addEventListener("pointerleave", () => point(null));
  stage.node.addEventListener("click", (event) => { if (spot(event)) choose(spot(event)); });

  const kind = () => (groups.by === "theme" ? "theme" : "topic");
  function load() {
    groups = data.groups ?? { by: "topic", labels: [], cells: [] };
    const known = topicsById(data.topics, data.themes);
    const themes = new Map(themeList(data.themes).map((theme) => [theme.id, theme]));
    labels = [...(groups.labels ?? [])].sort((one, two) => two.n_docs - one.n_docs).slice(0, options.most ?? MOST);
    const found = new Map();
    for (const cell of groups.cells ?? []) {
      if (!found.has(cell.id)) found.set(cell.id, new Map());
      // The range is that of the lift; what is drawn is the share, which the lift is a multiple of.
      const range = (lift) => (cell.lift > 0 && Number.isFinite(lift) ? (cell.share * lift) / cell.lift : null);
      found.get(cell.id).set(cell.label_name, { ...cell, low: range(cell.low), high: range(cell.high),
        lifts: [cell.low, cell.high] });
    }
    items = [...found].map(([id, cells]) => {
      const theme = kind() === "theme" ? id : (known.get(id)?.theme ?? null);
      const name = (kind() === "theme" ? themes.get(id)?.label : known.get(id)?.label) ?? `${kind()} ${id}`;
      const of = labels.map(({ name: label }) => cells.get(label)).filter(Boolean);
      const largest = Math.max(...of.map((cell) => cell.share), 1e-9);
      const most = Math.max(...of.map((cell) => Math.min(cell.high ?? cell.share, 2 * largest)), largest);
      return { id, name, cells, most, colour: themeColour(theme) };
    });
    cursor = null;
  }

  // Every row is [item, label] where labels run down, or one item where they run across.
  const across = () => items.length > 1 && (stage.width - 130) / Math.max(1, labels.length) >= NARROW;
  function rows() {
    if (across()) return items.map((item) => ({ item }));
    return items.flatMap((item) => [...(items.length > 1 ? [{ item, title: true }] : []),
      ...labels.map((label) => ({ item, label }))]);
  }
  function tall() {
    return items ? (across() ? 30 : 6) + ROW * Math.max(1, rows().length) + 6 : 100;
  }

  function draw() {
    stage.measure();
    const nothing = labels.length === 0 || items.length === 0;
    stage.empty(nothing ? "There are no labels to compare." : null);
    if (nothing) return;
    stage.label(summary());
    set(svg, { width: stage.width, height: stage.height, viewBox: `0 0 ${stage.width} ${stage.height}` });
    const names = across() ? items.map((item) => item.name) : labels.map((label) => label.name);
    const left = Math.min(stage.width * 0.34, Math.max(...names.map((name) => measure(name, 12, 600))) + 16);
    area = { left, top: across() ? 30 : 6, wide: across() ? (stage.width - left - 4) / labels.length
      : stage.width - left - 78 };
    const heads = across() ? labels.map((label, at) =>
      el("text", { x: left + at * area.wide + 4, y: 18, "font-size": 12,
      "font-weight": label.name === state.label ? 650 : 400, fill: "var(--soft)" }, fit(label.name, area.wide - 8, 12)))
      : [];
    svg.replaceChildren(...heads, ...rows().map((row, at) =>
      (across() ? line(row.item, at) : row.title ? title(row.item, at) : single(row, at))));
    const hidden = (groups.labels?.length ?? 0) - labels.length;
    stage.below.replaceChildren(Object.assign(document.createElement("div"),
      { className: "view-legend", textContent: `▲ more than elsewhere, ▼ less, beyond chance; thin lines are 95% intervals.${hidden > 0 ? ` Showing ${labels.length} of ${count(groups.labels.length)} labels.` : ""}` }));
  }

  function summary() {
    const sure = (groups.cells ?? []).filter((cell) => cell.sure).sort((one, two) =>
      Math.abs(Math.log(two.lift || 1)) - Math.abs(Math.log(one.lift || 1)));
    const name = (cell) => items.find((item) => item.id === cell.id)?.name ?? "";
    const best = sure.slice(0, 3).map((cell) => `${name(cell)} in ${cell.label_name}, ${digits(cell.lift)} times`).join(
      "; ");
    return `Shares of ${items.length} ${kind()}${items.length === 1 ? "" : "s"} by label (${labels.length} labels). ${sure.length} differences are more than chance${best ? `: ${best}` : ""}. Arrow keys move, Enter selects.`;
  }

  const sign = (cell) => (!cell || !cell.sure ? "" : cell.lift >= 1 ? "▲" : "▼");

  function mark(cell, item, x, y, dim) {
    if (!cell) return [];
    return [
      el("rect", { x: x(0), y: y - 5, width: Math.max(1, x(cell.share) - x(0)), height: 10, fill: item.colour,
        "fill-opacity": dim ? 0.3 : cell.sure ? 0.9 : 0.5 }),
      Number.isFinite(cell.low) && Number.isFinite(cell.high)
        ? el("path", { d: `M${x(Math.max(0, cell.low))} ${y}H${x(Math.min(item.most, cell.high))}M${x(Math.max(0, cell.low))} ${y - 3}v6M${x(Math.min(item.most, cell.high))} ${y - 3}v6`, stroke: "var(--ink)", "stroke-width": 1, fill: "none" }) : null,
    ];
  }

  function line(item, at) {
    const y = area.top + at * ROW + ROW / 2;
    const mine = item.id === state[kind()];
    const made = [el("text", { x: area.left - 10, y: y + 4, "text-anchor": "end", "font-size": 12,
      "font-weight": mine ? 650 : 400, fill: "var(--ink)" }, fit(item.name, area.left - 14, 12, mine ? 650 : 400))];
    labels.forEach((label, column) => {
      const cell = item.cells.get(label.name);
      const from = area.left + column * area.wide;
      const x = linear([0, item.most], [from + 2, from + area.wide - 20]);
      if (cursor && cursor[0] === item && cursor[1] === label) made.push(el("rect",
        { x: from, y: y - ROW / 2 + 1, width: area.wide - 2, height: ROW - 2, rx: 3, fill: "var(--faint)" }));
      made.push(...mark(cell, item, x, y, state.label && state.label !== label.name));
      if (sign(cell)) made.push(el("text", { x: from + area.wide - 15, y: y + 4, "font-size": 10, fill: "var(--ink)" },
        sign(cell)));
    });
    return el("g", {}, ...made.filter(Boolean));
  }

  function title(item, at) {
    return el("text", { x: 4, y: area.top + at * ROW + 19, "font-size": 12, "font-weight": 650, fill: "var(--ink)" },
      fit(item.name, stage.width - 8, 12, 650));
  }

  function single({ item, label }, at) {
    const y = area.top + at * ROW + ROW / 2;
    const cell = item.cells.get(label.name);
    const mine = label.name === state.label;
    const x = linear([0, item.most], [area.left, area.left + area.wide]);
    return el(
      "g", {}, mine || (cursor && cursor[0] === item && cursor[1] === label)
        ? el("rect", { x: 0, y: y - ROW / 2 + 1, width: stage.width, height: ROW - 2, rx: 4, fill: "var(--faint)" })
        : null,
      el("text", { x: area.left - 10, y: y + 4, "text-anchor": "end", "font-size": 12, "font-weight": mine ? 650 : 400,
        fill: "var(--ink)" }, fit(label.name, area.left - 14, 12, mine ? 650 : 400)),
      ...mark(cell, item, x, y, false).filter(Boolean),
      el("text", { x: stage.width - 4, y: y + 4, "text-anchor": "end", "font-size": 12, fill: "var(--soft)" },
        cell ? `${sign(cell)} ${percent(cell.share)}` : ""),
    );
  }

  // ---- pointer and keys

  function spot(event) {
    const box = stage.node.getBoundingClientRect();
    const row = rows()[Math.floor((event.clientY - box.top - area.top) / ROW)];
    if (!row || row.title) return null;
    if (!across()) return [row.item, row.label];
    const label = labels[Math.floor((event.clientX - box.left - area.left) / area.wide)];
    return label ? [row.item, label] : [row.item, null];
  }

  function words([item, label]) {
    if (!label) return item.name;
    const cell = item.cells.get(label.name);
    const much = cell ? `${percent(cell.share)}, ${digits(cell.lift)} times as much as in other documents (95% interval ${cell.lifts.map(often).join(" to ")}), p ${chance(cell.p)}${cell.sure ? ", more than chance" : ""}` : "nothing known";
    return `${item.name}\n${label.name}, ${count(label.n_docs)} documents\n${much}`;
  }

  function point(next, event) {
    if (next && event) {
      const box = stage.node.getBoundingClientRect();
      stage.tip(words(next), event.clientX - box.left, event.clientY - box.top);
    } else if (!next) stage.tip(null);
    if (cursor?.[0] === next?.[0] && cursor?.[1] === next?.[1]) return;
    cursor = next;
    options.onHover?.(next ? { [kind()]: next[0].id, label: next[1]?.name ?? null } : null);
    draw();
  }

  function choose([item, label]) {
    options.onSelect?.(label ? (items.length > 1 ? { label: label.name, [kind()]: item.id } : { label: label.name })
      : { [kind()]: item.id });
  }

  function key(event) {
    const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!items.length || !labels.length) return false;
    if (event.key === "Escape") {
      point(null);
      options.onSelect?.({ label: null });
      return true;
    }
    if ((event.key === "Enter" || event.key === " ") && cursor) {
      choose(cursor);
      return true;
    }
    const way = ways[event.key];
    if (!way) return false;
    let next = cursor ?? [items[0], labels[0]];
    if (cursor && across()) next = [items[clamp(items.indexOf(cursor[0]) + way[0], 0, items.length - 1)],
      labels[clamp(labels.indexOf(cursor[1]) + way[1], 0, labels.length - 1)]];
    else if (cursor) {
      const list = rows().filter((row) => !row.title);
      const row = list[clamp(list.findIndex((one) =>
        one.item === cursor[0] && one.label === cursor[1]) + way[0] + way[1], 0, list.length - 1)];
      next = [row.item, row.label];
    }
    stage.say(words(next).replaceAll("\n", ", "));
    point(next);
    return true;
  }

  function twin() {
    const columns = [kind() === "theme" ? "Theme" : "Topic", "Name", "Label", ["Share", percent], ["Lift", digits],
      ["Low", often], ["High", often], ["p", chance], "More than chance"];
    const rowsOf = items.flatMap((item) => [...item.cells.values()].map((cell) =>
      [item.id, item.name, cell.label_name, cell.share, cell.lift, ...cell.lifts, cell.p, cell.sure ? "yes" : "no"]));
    return table("Shares by label", columns, rowsOf);
  }

  load();
  draw();
  return {
    update(next) {
      state = next;
      draw();
    },
    resize: draw,
    destroy: () => stage.close(),
    table: twin,
    svg: () => (items.length && labels.length ? standalone(svg) : null),
    setData(next) {
      data = next;
      load();
      draw();
    },
  };
}
