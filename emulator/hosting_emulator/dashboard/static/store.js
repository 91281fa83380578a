// The signals that all panels share: the worlds, the current world's summary, its clock and its requests.

import { batch, computed, effect, signal, untracked } from "./lib.js";
import { api, inWorld } from "./api.js";
import { connection, listen, startEvents } from "./events.js";
import { inEachWorld, world } from "./here.js";

export { connection, listen } from "./events.js";
export { DEFAULT_WORLD, commandLine, go, link, route, world } from "./here.js";
export { requests, total } from "./requests-store.js";

export const worlds = signal([]);
export const summary = signal(null);
export const clock = signal(null);
export const faults = signal([]);
/** The faults that can still act. */
export const live = computed(() => faults.value.filter((fault) => !fault.spent));
export const unfinished = signal([]);
export const info = signal(null);
/** The findings about the client: their total number, and those about each request by its number. */
export const findings = signal({ count: 0, of: /** @type {Record<number, any[]>} */ ({}) });
/** Why this world cannot be shown, or null if it can. */
export const trouble = signal(null);

/** Whether the emulator does not respond, so that the page shows the last known state. */
export const stopped = computed(() => connection.value === "lost" && trouble.value?.status === 0);

/** Text for screen readers only, about changes that sighted users can see. It is announced politely. */
export const said = signal("");

let clockCameAt = 0;
let faultNews = 0;
const tick = signal(0);

/** The world's time in milliseconds since 1970, as this page estimates it. */
export const nowMs = computed(() => {
  tick.value;
  const found = clock.value;
  if (!found) return Date.now();
  const passed = performance.now() - clockCameAt;
  const rate = found.mode === "real" ? 1 : found.mode === "scaled" ? found.rate : 0;
  return Date.parse(found.now) + passed * rate;
});

function setClock(found) {
  clockCameAt = performance.now();
  clock.value = found;
}

/** Reload what the page shows about the world. */
export async function refresh() {
  const [asked, heard] = [world.value, faultNews];
  try {
    const [found, armed, open] = await Promise.all([
      inWorld.get(""),
      inWorld.get("/faults"),
      inWorld.get("/operations?unfinished=true"),
    ]);
    if (asked !== world.value) return;
    batch(() => {
      summary.value = found;
      setClock(found.clock);
      // The events that arrived meanwhile may be newer than this response.
      if (heard === faultNews) faults.value = armed.items;
      else refreshSoon();
      unfinished.value = open.items;
      trouble.value = null;
    });
  } catch (error) {
    if (asked === world.value) trouble.value = error;
  }
}

/** Reload the list of worlds. */
export async function refreshWorlds() {
  worlds.value = (await api.get("/worlds")).items;
}

/**
 * Return a function that runs some work soon, never twice at once. After many events, it takes a tenth of the time.
 * @param {() => Promise<void>} work
 */
export function calmly(work) {
  let waiting = false;
  let took = 0;
  let again = false;
  const run = async () => {
    const began = performance.now();
    again = false;
    try {
      await work();
    } catch {
      // The panels show the error, and the next event tries again.
    }
    took = performance.now() - began;
    waiting = false;
    if (again) ask();
  };
  const ask = () => {
    again = waiting;
    if (waiting) return;
    waiting = true;
    setTimeout(run, Math.max(took ? 500 : 0, took * 10));
  };
  return ask;
}

const refreshSoon = calmly(refresh);
const refreshWorldsSoon = calmly(refreshWorlds);
const loadInfo = () => api.get("/info").then((found) => (info.value = found), () => {});

/** Load the findings about the client. Each request may cause new findings. */
const countFindings = calmly(async () => {
  const asked = world.value;
  const found = await inWorld.get("/conduct");
  if (asked !== world.value) return;
  /** @type {Record<number, any[]>} */
  const of = {};
  for (const one of found.findings) for (const n of one.requests) (of[n] ??= []).push(one);
  findings.value = { count: /** @type {number[]} */ (Object.values(found.counts)).reduce((sum, count) => sum + count, 0), of };
});

/** Record that a fault was armed, counted a request, or was removed. */
function noteFault({ removed, ...counts }) {
  faultNews += 1;
  const others = faults.value.filter((fault) => fault.id !== counts.id);
  if (removed) faults.value = others;
  else if (others.length === faults.value.length) refreshSoon();
  else faults.value = faults.value.map((fault) => (fault.id === counts.id ? { ...fault, ...counts } : fault));
}

/** While time passes, an event may become due. A request for the clock makes the emulator run it. */
function watchClock() {
  let asking = false;
  setInterval(async () => {
    if (document.hidden || connection.value === "lost") return;
    tick.value += 1;
    const due = clock.value?.next_due_at;
    if (asking || !due || connection.value !== "live" || nowMs.peek() < Date.parse(due)) return;
    if (!["real", "scaled"].includes(clock.value.mode)) return;
    asking = true;
    try {
      setClock(await inWorld.get("/clock"));
    } catch {
      // The connection's mark in the frame shows the error.
    }
    asking = false;
  }, 1000);
}

/** Start: load and listen, and reload whenever the world changes. */
export function startStore() {
  inEachWorld(() => {
    summary.value = clock.value = trouble.value = null;
    faults.value = unfinished.value = [];
    findings.value = { count: 0, of: {} };
    refresh();
    countFindings();
  });
  listen("clock", setClock);
  listen("fault", noteFault);
  listen("commit", refreshSoon);
  // A request that a fault only considers makes no commit.
  listen("request", () => faults.value.length > 0 && refreshSoon());
  for (const kind of /** @type {const} */ (["world", "gap"])) listen(kind, refreshSoon);
  for (const kind of /** @type {const} */ (["world", "worlds", "gap"])) listen(kind, refreshWorldsSoon);
  for (const kind of /** @type {const} */ (["request", "world", "gap"])) listen(kind, countFindings);
  listen("gap", loadInfo);
  effect(() => {
    // Either the emulator has stopped or this world no longer exists. A request tells which.
    if (connection.value === "lost") untracked(() => [refreshSoon(), refreshWorldsSoon()]);
  });
  refreshWorlds().catch((error) => (trouble.value = error));
  loadInfo();
  watchClock();
  startEvents();
}
