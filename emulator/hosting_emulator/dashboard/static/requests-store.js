// The newest requests of the world, kept up by events: 200 at first, at most 500. Newest first.

import { batch, signal } from "./lib.js";
import { inWorld } from "./api.js";
import { listen } from "./events.js";
import { inEachWorld, world } from "./here.js";

export const MOST = 500;
/** How many are asked for at first; the rest when somebody wants to see them. */
export const FIRST = 200;
const GATHER_MS = 250;

export const requests = signal([]);
/** How many requests there have been. */
export const total = signal(0);
/** "loading", "ready", or what went wrong. @type {import("./vendor/signals.js").Signal<any>} */
export const requestsState = signal("loading");

/** @type {any[]} */
let coming = [];
let timer = 0;
/** What came while the list was on its way, which it may not have. @type {any[]} */
let meanwhile = [];
let loading = 0;

/** Load the list anew, as long as it was. @param {number} [limit] */
export async function reloadRequests(limit = Math.max(FIRST, requests.peek().length)) {
  const asked = world.value;
  if (!loading) meanwhile = [];
  loading += 1;
  try {
    const found = await inWorld.get(`/requests?limit=${limit}&trail=false`);
    if (asked !== world.value) return;
    const later = meanwhile.filter((item) => item.n > found.total).reverse();
    coming = [];
    batch(() => {
      requests.value = [...later, ...found.items].slice(0, MOST);
      total.value = later[0]?.n ?? found.total;
      requestsState.value = "ready";
    });
  } catch (error) {
    if (asked === world.value) requestsState.value = error;
  } finally {
    loading -= 1;
  }
}

/** Load what is older than the first ones, up to the most that are shown. */
export const loadOlder = () => reloadRequests(MOST);

/** Take in what came since: one change of the page for many requests. */
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
    if (item.n === 1) reloadRequests(); // the log was cleared and counts anew
    return;
  }
  coming.push(item);
  if (coming.length > MOST) coming = coming.slice(-MOST);
  timer ||= setTimeout(gather, GATHER_MS);
}

/** Begin: load, listen, and load anew whenever the world changes. */
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
