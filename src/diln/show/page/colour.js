// Colours, as CSS expressions of the tokens in base.css, so that light, dark and print need no redrawing of SVG.
//
//   themeColour(id) -> "var(--theme-3)"; themes after the twelfth repeat the colours in another shade; null is grey
//   themeMark(id)   -> "A", "B", ... "Z", "AA": the letter that stands for a theme where colour alone would not do
//   ATTRACT, AVOID  -> {colour, dash, word}: how lines of the two signs differ, with and without colour
//   diverging(t)    -> expression for t in [-1, 1]: avoiding ... nothing ... attracting
//   resolve(css)    -> "rgb(r, g, b)" now, for canvas and for files; rgb(css) -> [r, g, b] in 0..1
//   onScheme(call)  -> calls back when light turns dark; returns a function that ends it

export const N_COLOURS = 12;
export const ATTRACT = { colour: "var(--attract)", dash: "", word: "attract" };
export const AVOID = { colour: "var(--avoid)", dash: "4 4", word: "avoid" };

const SHADES = [null, ["var(--ink)", 70], ["var(--card)", 62], ["var(--ink)", 50], ["var(--card)", 45]];

export function themeColour(id) {
  if (id === null || id === undefined || id < 0) return "var(--none)";
  const base = `var(--theme-${id % N_COLOURS})`;
  const shade = SHADES[Math.floor(id / N_COLOURS) % SHADES.length];
  return shade ? `color-mix(in srgb, ${base} ${shade[1]}%, ${shade[0]})` : base;
}

export function themeMark(id) {
  if (id === null || id === undefined || id < 0) return "";
  const letter = String.fromCharCode(65 + (id % 26));
  return id < 26 ? letter : themeMark(Math.floor(id / 26) - 1) + letter;
}

export function diverging(t) {
  const end = t < 0 ? "var(--avoid)" : "var(--attract)";
  const share = Math.round(100 * Math.min(1, Math.abs(t)));
  return `color-mix(in srgb, ${end} ${share}%, var(--card))`;
}

let known = new Map();
let probe = null;

export function resolve(css) {
  if (!known.has(css)) known.set(css, `rgb(${rgb8(css).join(", ")})`);
  return known.get(css);
}

export function rgb(css) {
  return resolve(css).match(/\d+/g).map((value) => value / 255);
}

// A pixel painted in the colour tells what it is, whatever notation the browser computes it to.
function rgb8(css) {
  const node = document.createElement("i");
  node.style.color = css;
  document.documentElement.append(node);
  const computed = getComputedStyle(node).color;
  node.remove();
  if (!probe) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    probe = canvas.getContext("2d", { willReadFrequently: true });
  }
  probe.clearRect(0, 0, 1, 1);
  probe.fillStyle = computed;
  probe.fillRect(0, 0, 1, 1);
  return Array.from(probe.getImageData(0, 0, 1, 1).data.slice(0, 3));
}

const listeners = new Set();

function changed() {
  known = new Map();
  for (const call of listeners) call();
}

if (typeof matchMedia === "function") {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  matchMedia("print").addEventListener("change", changed);
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ["data-theme", "class"] });
}

export function onScheme(call) {
  listeners.add(call);
  return () => listeners.delete(call);
}
