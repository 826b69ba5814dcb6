// Elements from plain values. Text goes in as text, styles through the CSSOM: a strict content policy holds.

/** An element with attributes, listeners (`on`), styles (`css`) and children (elements or text; null is left out). */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, call] of Object.entries(value)) node.addEventListener(type, call);
    else if (name === "css") for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    else if (name === "value") node.value = value;
    else if (name === "checked" || name === "disabled" || name === "hidden") node[name] = true;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

/** A button with a text. */
export function button(text, click, props = {}) {
  return h("button", { type: "button", ...props, on: { click, ...(props.on ?? {}) } }, text);
}

/** A link to a state of the page; a plain click stays in the page, others open a tab as links do. */
export function link(store, change, text, props = {}) {
  const go = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    store.set(change);
  };
  return h("a", { href: store.href(change), ...props, on: { click: go } }, text);
}

/** Text that only screen readers meet. */
export const unseen = (text) => h("span", { class: "hidden-text" }, text);

/** A table from a heading row and rows of texts, numbers or elements. */
export function table(caption, heads, rows) {
  const cell = (one) => h("td", { class: typeof one === "number" ? "number" : null }, one instanceof Node ? one : String(one ?? ""));
  return h("table", { class: "table" },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))));
}

/** Call only when nothing new came for a while. */
export function later(call, wait = 150) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), wait);
  };
}
