// What is selected, in one object that lives in the address: links can be shared, back and forward work.

const WHOLE = ["topic", "theme", "themes", "document", "offset"];
const TEXT = ["view", "word", "label", "since", "until", "q", "other", "by", "granularity", "mix", "order", "card"];
export const VIEWS = ["map", "matrix", "network", "trends", "topics", "documents", "read", "training", "compare"];
const FILTERS = ["topic", "theme", "other", "word", "label", "since", "until", "q"];
const EMPTY = Object.fromEntries([...WHOLE, ...TEXT].map((name) => [name, null]));

/** The state that a query string stands for; what makes no sense is left out. */
export function parse(search) {
  const query = new URLSearchParams(search);
  const state = { ...EMPTY, view: "map" };
  for (const name of WHOLE) {
    const text = query.get(name);
    if (text !== null && /^\d{1,9}$/.test(text)) state[name] = Number(text);
  }
  for (const name of TEXT) {
    const text = query.get(name);
    if (text) state[name] = text.slice(0, 500);
  }
  if (!VIEWS.includes(state.view)) state.view = "map";
  return state;
}

/** The query string of a state. */
export function format(state) {
  const query = new URLSearchParams();
  for (const name of ["view", ...TEXT.slice(1), ...WHOLE]) {
    const value = state[name];
    if (value !== null && value !== undefined && value !== "" && !(name === "offset" && value === 0)) query.set(name, value);
  }
  return `?${query}`;
}

/** A state after a change: what no longer fits is dropped, and the card follows what was chosen last. */
export function changed(state, change, themeOf = () => null) {
  const next = { ...state, ...change };
  if ("theme" in change && change.theme !== null && !("topic" in change)) {
    if (next.topic !== null && themeOf(next.topic) !== change.theme) next.topic = null;
  }
  if ("topic" in change && change.topic !== null && !("theme" in change)) {
    if (next.theme !== null && themeOf(change.topic) !== next.theme) next.theme = null;
  }
  if ("themes" in change && change.themes !== state.themes && !("theme" in change)) next.theme = null;
  if ("document" in change && change.document !== null && !("view" in change)) next.view = "documents";
  const touched = FILTERS.some((name) => name in change && change[name] !== state[name]);
  if (touched && !("offset" in change)) next.offset = null;
  if (!("card" in change)) {
    const last = ["topic", "theme", "word", "label"].find((name) => name in change && change[name] !== null);
    if (last) next.card = last;
    else if (next.card && next[next.card] === null) next.card = null;
  }
  const another = next.topic !== state.topic && !("other" in change);
  if (next.topic === null || next.other === next.topic || another) next.other = null;
  return next;
}

/** The state of the page and those who follow it. */
export class Store {
  constructor(themeOf) {
    this.themeOf = themeOf;
    this.state = parse(location.search);
    this.followers = new Set();
    addEventListener("popstate", () => this.take(parse(location.search)));
  }

  /** Change some values; `replace` leaves no step to go back to. */
  set(change, { replace = false } = {}) {
    const next = changed(this.state, change, this.themeOf);
    const search = format(next);
    if (search === format(this.state)) return;
    history[replace ? "replaceState" : "pushState"](null, "", search);
    this.take(next);
  }

  take(next) {
    const before = this.state;
    this.state = next;
    const names = new Set(Object.keys(next).filter((name) => next[name] !== before[name]));
    for (const follow of this.followers) follow(next, names);
  }

  /** The address of the state after a change. */
  href(change) {
    return format(changed(this.state, change, this.themeOf));
  }

  follow(call) {
    this.followers.add(call);
    return () => this.followers.delete(call);
  }
}
