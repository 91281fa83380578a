// The keyboard shortcuts of the page. They do nothing while the focus is in a field.

import { signal } from "./lib.js";
import { go } from "./here.js";
import { PANELS } from "./panels.js";

/** Whether the list of shortcuts is shown. */
export const helpShown = signal(false);
const PATIENCE_MS = 1500;

export const KEYS = /** @type {[string, string][]} */ ([
  ["?", "Show or hide this list"],
  ["/", "Move to the panel's first field, such as a filter"],
  ["Escape", "Close an item, a menu or a dialog"],
  ["↑ ↓", "In the list of requests, move to the next newer or older request"],
  ...PANELS.map(({ key, name }) => [`g ${key}`, name]),
]);

const writes = (target) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Start listening for keyboard shortcuts. */
export function startKeys() {
  let before = -Infinity;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (writes(event.target) || document.querySelector("dialog[open]:not(.keys)")) return;
    const second = event.timeStamp - before < PATIENCE_MS;
    before = -Infinity;
    if (second) {
      const panel = PANELS.find(({ key }) => key === event.key);
      if (panel) {
        helpShown.value = false;
        go(panel.id);
      }
    } else if (event.key === "g") before = event.timeStamp;
    else if (event.key === "?") helpShown.value = !helpShown.value;
    else if (event.key === "/") focusFilter(event);
    else if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
      /** @type {HTMLElement | null} */ (document.querySelector("main [data-closes]"))?.click();
    }
  });
}

function focusFilter(event) {
  /** @type {HTMLElement | null} */
  const field = document.querySelector("main input:not([type=checkbox]), main select");
  if (!field) return;
  event.preventDefault();
  field.focus();
}
