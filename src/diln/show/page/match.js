// Two models side by side: lines between topics that match, the others apart.
//
//   createMatch(host, data, options) -> {update, resize, destroy, table, svg, setData}
//   data    {matching: Matching, topics: [TopicInfo] of the first model, others: [TopicInfo] of the second,
//            names?: [first, second], themes?: Themes of the first}
//   options onSelect({topic} | {other}), onHover({topic} | {other} | null)
//   update(state)  {topic, other}
//   Rows are pairs, the most alike first: solid lines for topics that are the same (affinity above 0.5), dashed and
//   thin ones for weaker matches; below are the topics that only one model has.
//   Keys: up and down move, left and right change sides, Enter selects, Escape clears.

import { themeColour } from "diln/colour.js";
import { clamp, count, digits, percent, radius } from "diln/scale.js";
import { el, fit, set, standalone, table } from "diln/svg.js";
import { openStage, topicsById } from "diln/view.js";

const ROW = 26;
const HEAD = 30;
const SAME = 0.5;

export function createMatch(host, data, options = {}) {
  let rows; // [{left, right, affinity} | {heading}]
  let names;
  let most;
  let state = {};
  let cursor = null; // [row, side]
  const stage = openStage(host, { kind: "match", height: () => HEAD + ROW * Math.max(1, rows?.length ?? 1) + 8, draw,
    key });
  const svg = el("svg", { "aria-hidden": "true" });
  stage.node.append(svg);
  stage.node.addEventListener("pointermove", (event) => point(spot(event), event));
  stage.node.addEventListener("pointerleave", () => point(null));
  stage.node.addEventListener("click", (event) => {
    const found = spot(event);
    if (found && topic(found)) choose(found);
    else options.onSelect?.({ topic: null, other: null });
  });

  function load() {
    const [first, second] = [topicsById(data.topics, data.themes), topicsById(data.others)];
    names = data.names ?? ["First model", "Second model"];
    const matches = [...(data.matching?.matches ?? [])].sort((one, two) => two.affinity - one.affinity);
    const at = (known, id) => known.get(id) ?? { id, label: `topic ${id}`, share: 0, theme: null };
    const pairs = matches.map((match) => ({ left: at(first, match.first), right: at(second, match.second),
      affinity: match.affinity }));
    const met = [new Set(matches.map((match) => match.first)), new Set(matches.map((match) => match.second))];
    const alone = [[...first.values()].filter((one) => !met[0].has(one.id)),
      [...second.values()].filter((one) => !met[1].has(one.id))];
    const lonely = Array.from({ length: Math.max(alone[0].length, alone[1].length) },
      (_, place) => ({ left: alone[0][place] ?? null, right: alone[1][place] ?? null, affinity: null }));
    const [same, weak] = [pairs.filter((pair) => pair.affinity > SAME), pairs.filter((pair) => pair.affinity <= SAME)];
    const section = (heading, list) => (list.length ? [{ heading: `${heading} (${count(list.length)})` }, ...list]
      : []);
    rows = [...section("The same in both", same), ...section("Weak matches", weak),
      ...(lonely.length ? [{ heading: `In one model only (${count(alone[0].length)} and ${count(alone[1].length)})` },
      ...lonely] : [])];
    most = Math.max(...[...first.values(), ...second.values()].map((one) => one.share), 1e-12);
    cursor = null;
  }

  const same = () => rows.filter((row) => row.affinity > SAME).length;
  function draw() {
    stage.measure();
    stage.empty(rows.length === 0 ? "There is no second model to compare with." : null);
    if (rows.length === 0) return;
    const topics = rows.filter((row) => row.left).length;
    stage.label(`${names[0]} and ${names[1]}: ${same()} of ${topics} topics are the same in both. Up and down move, Enter selects.`);
    set(svg, { width: stage.width, height: stage.height, viewBox: `0 0 ${stage.width} ${stage.height}` });
    const gap = clamp(stage.width * 0.16, 44, 160);
    const half = (stage.width - gap) / 2;
    const head = names.map((name, side) => el("text",
      { x: side ? half + gap : half, y: 18, "text-anchor": side ? "start" : "end", "font-size": 13, "font-weight": 650,
      fill: "var(--ink)" }, fit(name, half - 4, 13, 650)));
    svg.replaceChildren(...head, ...rows.map((row, at) => line(row, at, half, gap)));
  }

  function line(row, at, half, gap) {
    const y = HEAD + at * ROW + ROW / 2;
    if (row.heading) return el("g", {}, el("text",
      { x: 4, y: y + 5, "font-size": 12, "font-weight": 600, fill: "var(--soft)" }, row.heading), el("line", { x1: 4,
      x2: stage.width - 4, y1: y + 11, y2: y + 11, stroke: "var(--line)" }));
    const [from, to] = [half - 2, half + gap + 2];
    const strong = row.affinity > SAME;
    const made = [];
    if (cursor && cursor[0] === at) made.push(el("rect",
      { x: 0, y: y - ROW / 2 + 1, width: stage.width, height: ROW - 2, rx: 4, fill: "var(--faint)" }));
    if (row.affinity !== null) {
      made.push(el("line", { x1: from, x2: to, y1: y, y2: y, stroke: "var(--attract)",
        "stroke-width": strong ? 1 + 5 * (row.affinity - SAME) * 2 : 1, "stroke-dasharray": strong ? ""
        : "3 4", "stroke-opacity": 0.35 + 0.6 * row.affinity }));
      made.push(el("text", { x: (from + to) / 2, y: y + 4, "text-anchor": "middle", "font-size": 11, fill: "var(--ink)",
        stroke: cursor && cursor[0] === at ? "var(--faint)"
        : "var(--card)", "stroke-width": 6, "stroke-linejoin": "round", "paint-order": "stroke" }, digits(
        row.affinity)));
    }
    for (const side of [0, 1]) {
      const one = side ? row.right : row.left;
      if (!one) continue;
      const mine = one.id === (side ? state.other : state.topic);
      const on = cursor && cursor[0] === at && cursor[1] === side;
      const r = Math.max(2, radius(one.share, most, 9));
      const x = side ? to + 9 : from - 9;
      made.push(el("circle", { cx: x, cy: y, r, fill: side ? "var(--none)" : themeColour(one.theme),
        stroke: mine || on ? "var(--ink)" : "none", "stroke-width": 2 }));
      made.push(el("text", { x: side ? x + 14 : x - 14, y: y + 4, "text-anchor": side ? "start" : "end",
        "font-size": 12, "font-weight": mine ? 650 : 400, fill: "var(--ink)" }, fit(one.label, half - 34, 12, mine ? 650
        : 400)));
    }
    return el("g", {}, ...made);
  }

  // ---- pointer and keys

  const topic = ([at, side]) => (side ? rows[at].right : rows[at].left);
  function spot(event) {
    const box = stage.node.getBoundingClientRect();
    const at = Math.floor((event.clientY - box.top - HEAD) / ROW);
    if (!rows[at] || rows[at].heading) return null;
    return [at, event.clientX - box.left > stage.width / 2 ? 1 : 0];
  }
  function words([at, side]) {
    const row = rows[at];
    const tell = (one, name) => (one ? `${name}: ${one.label}, ${percent(one.share)}` : null);
    const alike = row.affinity === null ? "in one model only"
      : `affinity ${digits(row.affinity)}${row.affinity > SAME ? ", the same" : ""}`;
    const both = [tell(row.left, names[0]), tell(row.right, names[1])];
    return (row.affinity === null ? [both[side] ?? both[1 - side], alike] : [...both, alike]).join("\n");
  }
  function point(next, event) {
    if (next && event) {
      const box = stage.node.getBoundingClientRect();
      stage.tip(words(next), event.clientX - box.left, event.clientY - box.top);
    } else if (!next) stage.tip(null);
    if (String(next) === String(cursor)) return;
    cursor = next;
    const one = next && topic(next);
    options.onHover?.(one ? (next[1] ? { other: one.id } : { topic: one.id }) : null);
    draw();
  }
  function choose(found) {
    const one = topic(found);
    if (one) options.onSelect?.(found[1] ? { other: one.id } : { topic: one.id });
  }

  function key(event) {
    if (rows.length === 0) return false;
    if (event.key === "Escape") {
      point(null);
      options.onSelect?.({ topic: null, other: null });
      return true;
    }
    if ((event.key === "Enter" || event.key === " ") && cursor) {
      choose(cursor);
      return true;
    }
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowLeft: 0, ArrowRight: 0 }[event.key];
    if (step === undefined) return false;
    const side = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? 0 : (cursor?.[1] ?? 0);
    const list = rows.map((_, at) => at).filter((at) => !rows[at].heading);
    const from = cursor ? list.indexOf(cursor[0]) : -1;
    const next = [list[clamp(from + step, 0, list.length - 1)], side];
    if (!topic(next)) next[1] = 1 - next[1];
    stage.say(words(next).replaceAll("\n", ", "));
    point(next);
    return true;
  }

  function twin() {
    const cells = rows.filter((row) => !row.heading).map((row) =>
      [row.left?.id, row.left?.label, row.left?.share, row.affinity, row.right?.id, row.right?.label,
      row.right?.share]);
    return table(`Topics of ${names[0]} and of ${names[1]}`,
      ["Topic", names[0], ["Share", percent], ["Affinity", digits], "Topic", names[1], ["Share", percent]], cells);
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
    svg: () => (rows.length ? standalone(svg) : null),
    setData(next) {
      data = next;
      load();
      draw();
    },
  };
}
