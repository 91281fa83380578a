// The events that the emulator sends about the current world, while the page is visible.

import { effect, signal } from "./lib.js";
import { world } from "./here.js";

/** @typedef {"request"|"commit"|"clock"|"fault"|"outcome"|"world"|"worlds"|"gap"} Kind */

/** @type {import("./vendor/signals.js").Signal<"connecting"|"live"|"lost">} */
export const connection = signal("connecting");

/** @type {Map<string, Set<(data: any) => void>>} */
const listeners = new Map();

/**
 * Listen for events of a kind. Returns a function that stops listening.
 * @param {Kind} kind @param {(data: any) => void} handler @returns {() => void}
 */
export function listen(kind, handler) {
  const handlers = listeners.get(kind) ?? new Set();
  listeners.set(kind, handlers.add(handler));
  return () => handlers.delete(handler);
}

/** @param {Kind} kind */
function tell(kind, data) {
  listeners.get(kind)?.forEach((handler) => handler(data));
}

const visible = signal(!document.hidden);

/** Start listening, and switch streams whenever the page shows a different world. */
export async function startEvents() {
  const port = await openPort();
  let missed = false;
  port.onmessage = ({ data: message }) => {
    if (message.kind) return tell(message.kind, JSON.parse(message.data || "null"));
    if (message.state === "lost") missed = true;
    connection.value = message.state;
    if (message.state !== "live" || !missed) return;
    missed = false;
    tell("gap", null);
  };
  let first = true;
  effect(() => {
    const shownWorld = visible.value ? world.value : "";
    connection.value = "connecting";
    port.postMessage({ world: shownWorld });
    if (!first && shownWorld) missed = true; // The page missed events while it was hidden.
    first = false;
  });
  document.addEventListener("visibilitychange", () => (visible.value = !document.hidden));
  addEventListener("pagehide", () => (visible.value = false));
  addEventListener("pageshow", () => (visible.value = !document.hidden));
}

/** @returns {Promise<MessagePort>} */
async function openPort() {
  const file = new URL("./events-worker.js", import.meta.url);
  if (typeof SharedWorker !== "undefined") return new SharedWorker(file, "events").port;
  await import(/* webpackIgnore: true */ file.href);
  const { port1, port2 } = new MessageChannel();
  // @ts-ignore: The file that was just imported sets it.
  self.attendEvents(port2);
  return port1;
}
