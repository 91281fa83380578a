// Toasts: short messages about finished actions. They disappear after a while, and screen readers announce them politely.

import { html, signal } from "../lib.js";

const STAYS_MS = 6000;
/** The time in milliseconds that it takes to read one character. */
const CHARACTER_MS = 60;
/** @typedef {"good"|"bad"|"calm"} Tone */
const toasts = signal([]);
let ids = 0;

/** @param {string} text @param {Tone} [tone] */
export function toast(text, tone = "calm") {
  const id = (ids += 1);
  toasts.value = [...toasts.value.slice(-3), { id, text, tone }];
  const staysMs = Math.max(STAYS_MS, text.length * CHARACTER_MS);
  setTimeout(() => drop(id), tone === "bad" ? staysMs * 2 : staysMs);
}

function drop(id) {
  toasts.value = toasts.value.filter((row) => row.id !== id);
}

/**
 * Run an action, and show a toast with the result. Returns the response, or undefined after a failure.
 * @template T
 * @param {() => Promise<T>} work @param {string | ((response: T) => string)} [said]
 * @param {(response: T) => any} [then] runs before the toast is shown, usually to reload what has changed
 * @returns {Promise<T | undefined>}
 */
export async function act(work, said, then) {
  try {
    const response = await work();
    await then?.(response);
    const text = typeof said === "function" ? said(response) : said;
    if (text) toast(text, "good");
    return response;
  } catch (error) {
    const { title, message } = /** @type {any} */ (error);
    toast(title ? `${title}: ${message}` : message, "bad");
    return undefined;
  }
}

/** The region in which toasts appear. Only the frame contains it. */
export function ToastRegion() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      ({ id, text, tone }) => html`<div key=${id} class=${`toast ${tone}`}>
        <p>${text}</p>
        <button type="button" class="button quiet small" aria-label="Dismiss" onClick=${() => drop(id)}>×</button>
      </div>`,
    )}
  </div>`;
}
