// Periods of time as words and days: "2017", "2017-Q2", "2017-02", "2017-W05", "2017-02-14".
//
//   edges(periods)  first days of the periods, and the first day after the last: one more than there are periods
//   tickPeriods(periods, x, left, right) -> [[place, text, x]]: as many as fit, the first of a year where possible

import { measure } from "diln/svg.js";

const DAY = 86400000;
const iso = (time) => new Date(time).toISOString().slice(0, 10);
const day = (year, month, date = 1) => Date.UTC(year, month, date);

// First day of a period and of the next one; null for what is no period.
export function bounds(period) {
  let found;
  if ((found = /^(\d{4})-W(\d{1,2})$/.exec(period))) {
    const fourth = day(Number(found[1]), 0, 4); // always in the first week
    const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY + (Number(found[2]) - 1) * 7 * DAY;
    return [iso(monday), iso(monday + 7 * DAY)];
  }
  if ((found = /^(\d{4})-?Q([1-4])$/.exec(period))) return [iso(day(Number(found[1]), 3 * found[2] - 3)),
    iso(day(Number(found[1]), 3 * found[2]))];
  if ((found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(period))) return [period,
    iso(day(Number(found[1]), found[2] - 1, Number(found[3])) + DAY)];
  if ((found = /^(\d{4})-(\d{2})$/.exec(period))) return [iso(day(Number(found[1]), found[2] - 1)),
    iso(day(Number(found[1]), Number(found[2])))];
  if ((found = /^(\d{4})$/.exec(period))) return [`${period}-01-01`, `${Number(period) + 1}-01-01`.padStart(10, "0")];
  return null;
}

// Weeks that are told by their first day last until the next one.
export function edges(periods) {
  if (periods.length === 0) return [];
  const all = periods.map((period) => bounds(period) ?? [period, period]);
  return [...all.map(([first], at) => (at > 0 && all[at - 1][1] > first ? all[at - 1][1] : first)),
    lastEdge(periods, all)];
}

function lastEdge(periods, all) {
  const last = all[all.length - 1];
  const daily = /^\d{4}-\d{2}-\d{2}$/.test(periods[periods.length - 1]);
  if (!daily || periods.length < 2) return last[1];
  const gap = Math.min(...all.slice(1).map(([first], at) => Date.parse(first) - Date.parse(all[at][0])).filter((one) =>
    one > 0), 31 * DAY);
  return iso(Date.parse(last[0]) + gap);
}

export function tickPeriods(periods, x, left, right) {
  const years = periods.map((period, at) => [at, period.slice(0, 4)]).filter(([at, year]) =>
    at === 0 || periods[at - 1].slice(0, 4) !== year);
  const all = years.length >= 3 || (periods[0] ?? "").length === 4 ? years : periods.map((period, at) => [at, period]);
  const out = [];
  let free = left - 8;
  for (const [at, text] of all) {
    const wide = measure(text, 11);
    const middle = Math.min(Math.max(x(at), left + wide / 2 - 4), right - wide / 2 + 4);
    if (middle - wide / 2 < free) continue;
    out.push([at, text, middle]);
    free = middle + wide / 2 + 14;
  }
  return out;
}
