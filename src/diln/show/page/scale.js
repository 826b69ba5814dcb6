// Numbers to places, and numbers to words.
//
//   linear([a, b], [c, d])     a function from one range to the other, with .invert
//   ticks(low, high, n)        round numbers in the range, about n of them
//   radius(share, most, size)  circle whose area is the share; the largest has radius `size`
//   percent, count, times      "4.1%", "12,345", "4.1 times"
//   pairWords(pair)            "together 4.1 times as often as by chance, sure"

export function linear([a, b], [c, d]) {
  const slope = b === a ? 0 : (d - c) / (b - a);
  const scale = (value) => (b === a ? (c + d) / 2 : c + (value - a) * slope);
  scale.invert = (place) => (slope === 0 ? a : a + (place - c) / slope);
  return scale;
}

export function ticks(low, high, n = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, n);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough * 0.999) * power;
  const out = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high
    + step * 1e-9; at += 1) out.push(Number((at * step).toPrecision(12)));
  return out;
}

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

export const radius = (share, most, size) => (most > 0 ? Math.sqrt(Math.max(0, share) / most) * size : size);

const whole = new Intl.NumberFormat("en-US");

export const count = (value) => whole.format(Math.round(value));

// A share as per cent, as `percent` of diln.analysis.html has it.
export function percent(share) {
  const value = 100 * share;
  if (!Number.isFinite(value)) return "unknown";
  if (value > 0 && value < 0.01) return "<0.01%";
  return `${value.toFixed(value >= 9.95 || value === 0 ? 0 : value >= 0.995 ? 1 : 2)}%`;
}

export function times(lift) {
  if (!(lift >= 0)) return "";
  if (lift >= 99.5) return `${count(lift)} times`;
  return `${Number(lift.toPrecision(2))} times`;
}

export const digits = (value) => (Number.isFinite(value) ? value.toFixed(2) : "");

export function pairWords(pair) {
  const sure = pair.sure === true ? ", sure" : pair.sure === false ? ", not sure" : "";
  return `together ${times(pair.lift ?? Math.exp(pair.log_lift))} as often as by chance${sure}`;
}
