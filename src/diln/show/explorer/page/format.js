// Numbers and dates as people read them.
export { percent } from "diln/scale.js";

const whole = new Intl.NumberFormat("en");

export const count = (value) => whole.format(value);

/** "1 document", "2,000 documents". */
export function many(value, one, more = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : more}`;
}

/** A number of times: "4.1", "12", "0.25". */
export function times(value) {
  if (value >= 9.95) return count(Math.round(value));
  return value >= 0.995 ? value.toFixed(1) : value.toFixed(2);
}

/** How two topics go together, in words; how sure it is, or that this is unknown. */
export function together(pair) {
  const said = pair.lift >= 1
    ? `together ${times(pair.lift)} times as often as by chance`
    : `together ${times(1 / pair.lift)} times more rarely than by chance`;
  return `${said}, ${sureness(pair)}`;
}

export function sureness(pair) {
  if (pair.sure === true) return "sure";
  return pair.sure === false ? "not sure" : "how sure is unknown";
}

/** What one chain can and cannot say. */
export const ONE_CHAIN = "The model was fitted with one chain, so it is unknown which pairs of topics are sure. " +
  "Fit with --chains 4 to find out.";

/** "12 to 40 of 300 documents" for a page of a list. */
export function window(offset, shown, total, noun = "document") {
  if (!total) return `No ${noun}s`;
  if (shown === total) return `Showing all ${many(total, noun)}`;
  return `Showing ${count(offset + 1)} to ${count(offset + shown)} of ${many(total, noun)}`;
}

/** A date without its time of day where that is midnight. */
export function day(text) {
  return text ? String(text).replace(/T00:00(:00)?(\.0+)?(Z|\+00:00)?$/, "").replace("T", " ") : "";
}

export const clip = (text, length = 80) => (text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text);
