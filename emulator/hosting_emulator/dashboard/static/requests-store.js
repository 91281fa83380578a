// The latest requests to the world, newest first, updated by events. There are 200 at first, and at most 500.

import { batch, signal } from "./lib.js";
import { inWorld } from "./api.js";
import { listen } from "./events.js";
import { inEachWorld, world } from "./here.js";

export const MOST = 500;
/** The number of requests to load at first. The user can then load older requests. */
export const FIRST = 200;
const GATHER_MS = 250;

export const requests = signal([]);
/** The total number of requests. */
export const total = signal(0);
/** "loading", "ready", or an error. @type {import("./vendor/signals.js").Signal<any>} */
export const requestsState = signal("loading");

/** @type {any[]} */
let coming = [];
let timer = 0;
/** Requests that arrived while the list was loading, and that may be missing from it. @type {any[]} */
let meanwhile = [];
let loading = 0;

/** Reload the list with its current length. @param {number} [limit] */
export async function reloadRequests(limit = Math.max(FIRST, requests.peek().length)) {
  const requestedWorld = world.value;
  if (!loading) meanwhile = [];
  loading += 1;
  try {
    const page = await inWorld.get(`/requests?limit=${limit}&trail=false`);
    if (requestedWorld !== world.value) return;
    const later = meanwhile.filter((item) => item.n > page.total).reverse();
    coming = [];
    batch(() => {
      requests.value = [...later, ...page.items].slice(0, MOST);
      total.value = later[0]?.n ?? page.total;
      requestsState.value = "ready";
    });
  } catch (error) {
    if (requestedWorld === world.value) requestsState.value = error;
  } finally {
    loading -= 1;
  }
}

/** Load older requests, up to the maximum number that is shown. */
export const loadOlder = () => reloadRequests(MOST);

/** Add the requests that have arrived since then, in a single update of the page. */
function gather() {
  timer = 0;
  const newest = requests.value[0]?.n ?? 0;
  const fresh = coming.filter((item) => item.n > newest).reverse();
  coming = [];
  if (!fresh.length) return;
  batch(() => {
    requests.value = [...fresh, ...requests.value].slice(0, MOST);
    total.value = fresh[0].n;
  });
}

function take(item) {
  if (loading) meanwhile.push(item);
  if (item.n <= (requests.value[0]?.n ?? 0) && !coming.length) {
    if (item.n === 1) reloadRequests(); // The log was cleared, because the numbers start at 1 again.
    return;
  }
  coming.push(item);
  if (coming.length > MOST) coming = coming.slice(-MOST);
  timer ||= setTimeout(gather, GATHER_MS);
}

/** Load the requests, listen for new ones, and reload whenever the page switches to another world. */
export function startRequests() {
  inEachWorld(() => {
    requests.value = [];
    total.value = 0;
    requestsState.value = "loading";
    meanwhile = [];
    reloadRequests();
  });
  listen("request", take);
  listen("world", () => reloadRequests());
  listen("gap", () => reloadRequests());
}
