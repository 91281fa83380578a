// Formats times, durations and words from the contract.

import { nowMs } from "./store.js";

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Return a word from the contract as the page shows it. @param {string} word */
export const spoken = (word) => String(word ?? "").replaceAll("_", " ");

/** Return the address of the page to which a problem's `type` links. @param {string} code */
export const problemPage = (code) => `/_emulator/docs/errors/${code.replaceAll("_", "-")}`;

/** Return a path in which ids are shortened to their endings, in which they mostly differ. @param {string} path */
export const shortIds = (path) => path.replace(/[0-9A-HJKMNP-TV-Z]{26}/g, (id) => `${id.slice(0, 4)}…${id.slice(-4)}`);

/**
 * Return a timestamp of world time in a short form. On the world's current day, this is only the time of day.
 * @param {string} at @param {boolean} [time] return only the time of day on any day
 */
export function moment(at, time) {
  const [day, rest = ""] = at.split("T");
  const clock = rest.replace(/(\.\d+)?Z$/, "");
  const today = new Date(nowMs.peek()).toISOString().slice(0, 10);
  return time || day === today ? clock : `${day} ${clock}`;
}

/** Say in words how long ago a timestamp is, or how far in the future. @param {string} at */
export function sinceNow(at) {
  const away = Date.parse(at) - nowMs.peek();
  if (Math.abs(away) < 1000) return "now";
  return away > 0 ? `in ${span(away)}` : `${span(-away)} ago`;
}

/** The units of time, each with its length in milliseconds and its number in the next larger unit. */
const UNITS = /** @type {const} */ ([["d", 86_400_000, Infinity], ["h", 3_600_000, 24], ["m", 60_000, 60], ["s", 1000, 60]]);

/** Return a duration in its two largest units. @param {number} ms */
export function span(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const parts = UNITS.map(([unit, size, most]) => ({ unit, count: Math.floor(ms / size) % most }));
  const first = parts.findIndex(({ count }) => count);
  return parts.slice(first, first + 2).map(({ unit, count }) => (count ? `${count}${unit}` : "")).join(" ").trim();
}

const TONES = {
  good: "succeeded ready authorized active used live",
  bad: "failed revoked expired exhausted outage",
  warn: "stuck pending cancelled suspended uncertain",
  busy: "queued running building deploying verifying init resizing",
};

/** Return the tone of a state's badge. @param {string} state @returns {"good"|"warn"|"bad"|"busy"|"calm"} */
export function toneOf(state) {
  const match = Object.entries(TONES).find(([, words]) => words.split(" ").includes(state));
  return /** @type {any} */ (match?.[0] ?? "calm");
}

/** Format the time that the emulator took for a response. @param {number} us */
export const took = (us) => `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;

/** Return the tone of an HTTP status. @param {number} status */
export function toneOfStatus(status) {
  if (!status || status >= 500) return "bad";
  if (status >= 400) return "warn";
  return status === 202 ? "busy" : "good";
}

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
