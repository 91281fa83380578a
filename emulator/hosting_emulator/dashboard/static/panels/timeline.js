// Draws the states of operations over world time. The table below contains the same information as text.

import { html, signal } from "../lib.js";
import { link } from "../store.js";
import { moment, span, spoken, toneOf } from "../words.js";

const BAR = 16;
/** In a wide window, an operation's name is next to its bar, and otherwise above it. */
const WIDE = { width: 1000, left: 250, row: 30, bar: 4, text: 17, places: [0, 0.25, 0.5, 0.75, 1] };
const NARROW = { width: 340, left: 4, row: 46, bar: 22, text: 15, places: [0, 0.5, 1] };
const narrow = matchMedia("(max-width: 52rem)");
const drawing = signal(narrow.matches ? NARROW : WIDE);
narrow.addEventListener("change", () => (drawing.value = narrow.matches ? NARROW : WIDE));
const MOST = 12;
/** The minimum time range, and the margin around an operation as a share of its duration. */
const LEAST_MS = 60_000;
const MARGIN = 0.25;

export function Timeline({ items, now, current }) {
  const form = drawing.value;
  const { width, left, row: high } = form;
  const [from, to] = frameOf(items, now, current);
  const within = items.filter((row) => begun(row, now) <= to && ended(row, now) >= from);
  const rows = within.slice(0, MOST);
  const x = (/** @type {string | null} */ at) => {
    const moment = Math.min(to, Math.max(from, Date.parse(at ?? now)));
    return left + ((moment - from) / (to - from)) * (width - left - 12);
  };
  const height = rows.length * high + 28;
  return html`<div class="timeline-box">
    <svg class="timeline" viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${`States of ${rows.length} operations over world time, from ${moment(new Date(from).toISOString())} to ${moment(now)}`}>
      <${Scale} from=${from} to=${to} height=${height} form=${form} />
      ${rows.map((row, place) => html`<${Row} key=${row.id} row=${row} y=${place * high} x=${x} form=${form} current=${row.id === current} />`)}
    </svg>
  </div>
  ${rows.length < items.length && html`<p class="small quiet">${hiddenText(rows.length, within.length, items.length)}</p>`}
  <ul class="legend" aria-label="Colors">
    ${["queued", "running", "stuck", "succeeded", "failed", "cancelled"].map((state) => html`<li key=${state}><span class=${`swatch ${tone(state)}`} aria-hidden="true"></span>${state}</li>`)}
  </ul>`;
}

/** Return a sentence that explains why the table has more rows than there are bars. @param {number} drawn @param {number} within @param {number} all */
function hiddenText(drawn, within, all) {
  const more = within > drawn && `${within - drawn} more are in this time range`;
  const outside = all > within && `${all - within} are outside it. Open one to see it`;
  return `${drawn} of ${all} shown; ${[more, outside].filter(Boolean).join(", ")}.`;
}

const begun = (row, now) => Date.parse(row.spans[0]?.from ?? now);
const ended = (row, now) => Date.parse(row.spans.at(-1)?.to ?? now);

/**
 * Return the time range to show: around the selected operation, or from the start of the newest operation to now.
 * @param {any[]} items newest first @param {string} now @param {string} current
 */
function frameOf(items, now, current) {
  const looked = items.find(({ id }) => id === current);
  const row = looked ?? items[0];
  const from = begun(row, now);
  const to = looked ? ended(row, now) : Date.parse(now);
  const margin = Math.max((to - from) * MARGIN, (LEAST_MS - (to - from)) / 2);
  return looked ? [from - margin, Math.min(Date.parse(now), to + margin)] : [from - 2 * margin, to];
}

const Scale = ({ from, to, height, form: { width, left, places } }) => html`<g class="scale" aria-hidden="true">
  ${places.map((part) => {
    const at = left + part * (width - left - 12);
    const anchor = part === 0 ? "start" : part === 1 ? "end" : "middle";
    const text = part === 0 || part === 1 ? moment(new Date(from + part * (to - from)).toISOString()) : `+${span(part * (to - from))}`;
    return html`<g key=${part}><line x1=${at} x2=${at} y1="0" y2=${height - 22} /><text x=${at} y=${height - 6} text-anchor=${anchor}>${text}</text></g>`;
  })}
</g>`;

/** @param {{row: any, y: number, x: (at: string | null) => number, form: typeof WIDE, current: boolean}} props */
function Row({ row, y, x, form, current }) {
  const name = `${spoken(row.kind)} of ${row.project}`;
  const states = row.spans.map((part) => says(part)).join("; ");
  return html`<a href=${link("operations", row.id)} class=${current ? "current" : ""} aria-label=${`${name}: ${states}`}>
    <rect class="hit" x="0" y=${y} width=${form.width} height=${form.row} />
    <text class="label" x="4" y=${y + form.text}>${name.length > 36 ? `${name.slice(0, 35)}…` : name}</text>
    ${row.spans.map((part, /** @type {number} */ place) => {
      const left = x(part.from);
      const ended = part.to !== null && part.to === part.from;
      const width = ended ? 8 : Math.max(3, x(part.to) - left);
      return html`<rect key=${place} class=${`bar-part ${tone(part.stuck ? "stuck" : part.state)} ${part.phase}`} x=${ended ? left - 4 : left} y=${y + form.bar} width=${width} height=${BAR} rx="3"><title>${says(part)}</title></rect>`;
    })}
  </a>`;
}

function says(part) {
  const state = part.state === "running" ? `running (${spoken(part.phase)})` : part.state;
  const until = part.to === null ? `since ${moment(part.from)}` : part.to === part.from ? `at ${moment(part.to)}` : `for ${span(Date.parse(part.to) - Date.parse(part.from))}`;
  return `${state}${part.stuck ? ", stuck" : ""} ${until}`;
}

const tone = (state) => ({ queued: "calm", cancelled: "off" })[state] ?? toneOf(state);
