// Where the user is: the URL's hash contains the panel, the item in the panel, and the world.

import { batch, computed, effect, signal, untracked } from "./lib.js";

/** @typedef {{panel: string, arg: string, query: Record<string, string>, world: string}} Route */

export const DEFAULT_WORLD = "default";

/** @type {import("./vendor/signals.js").Signal<Route>} */
export const route = signal(read(location.hash));
/** The name of the world that the page shows. */
export const world = computed(() => route.value.world);

/** Run a function now, and again whenever the page switches to another world. @param {() => void} work */
export const inEachWorld = (work) => effect(() => {
  world.value;
  untracked(() => batch(work));
});

addEventListener("hashchange", () => (route.value = read(location.hash)));

/** @param {string} hash @returns {Route} */
function read(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [panel = "", ...rest] = path.split("/").map(decodeURIComponent);
  const { world = DEFAULT_WORLD, ...query } = Object.fromEntries(new URLSearchParams(search));
  return { panel: panel || "requests", arg: rest.join("/"), query, world };
}

/** Return a command line that works for this emulator and world. @param {string} words */
export function commandLine(words) {
  const where = world.value === DEFAULT_WORLD ? "" : ` --world ${world.value}`;
  const usual = ["http://127.0.0.1:4620", "http://localhost:4620"].includes(location.origin);
  return `hosting-emulator ${words}${where}${usual ? "" : ` --url ${location.origin}`}`;
}

/**
 * Return the address of a panel in this world, for a link's `href`.
 * @param {string} panel @param {string} [arg] @param {Record<string, any>} [query]
 * @param {string} [inWorld]
 */
export function link(panel, arg = "", query = {}, inWorld = world.value) {
  const parameters = Object.entries(query).filter(([, value]) => value != null && value !== "");
  const search = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)]));
  if (inWorld !== DEFAULT_WORLD) search.set("world", inWorld);
  const text = search.toString();
  return `#/${panel}${arg ? `/${encodeURIComponent(arg)}` : ""}${text ? `?${text}` : ""}`;
}

/**
 * Go to a panel. With `replace`, the browser's history skips the current location.
 * @param {string} panel @param {string} [arg] @param {Record<string, any>} [query]
 * @param {{replace?: boolean, world?: string}} [how]
 */
export function go(panel, arg = "", query = {}, how = {}) {
  const target = link(panel, arg, query, how.world ?? world.value);
  if (!how.replace) {
    location.hash = target;
    return;
  }
  history.replaceState(null, "", target);
  route.value = read(target);
}
