// The signals that all panels share: the worlds, and the current world's summary, clock, faults and findings.

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
/** The reason why this world cannot be shown, or null. */
export const trouble = signal(null);

/** True if the emulator does not respond. The page then shows the last known state. */
export const stopped = computed(() => connection.value === "lost" && trouble.value?.status === 0);

/** Text that is only for screen readers, about changes that are visible on the page. They announce it politely. */
export const said = signal("");

let clockCameAt = 0;
let faultNews = 0;
const tick = signal(0);

/** The world's time in milliseconds since 1970, as this page estimates it. */
export const nowMs = computed(() => {
  tick.value;
  const worldClock = clock.value;
  if (!worldClock) return Date.now();
  const passed = performance.now() - clockCameAt;
  const rate = worldClock.mode === "real" ? 1 : worldClock.mode === "scaled" ? worldClock.rate : 0;
  return Date.parse(worldClock.now) + passed * rate;
});

function setClock(worldClock) {
  clockCameAt = performance.now();
  clock.value = worldClock;
}

/** Reload what the page shows about the world. */
export async function refresh() {
  const requestedWorld = world.value;
  const newsBefore = faultNews;
  try {
    const [worldSummary, armed, open] = await Promise.all([
      inWorld.get(""),
      inWorld.get("/faults"),
      inWorld.get("/operations?unfinished=true"),
    ]);
    if (requestedWorld !== world.value) return;
    batch(() => {
      summary.value = worldSummary;
      setClock(worldSummary.clock);
      // Events that arrived in the meantime may be newer than this response.
      if (newsBefore === faultNews) faults.value = armed.items;
      else refreshSoon();
      unfinished.value = open.items;
      trouble.value = null;
    });
  } catch (error) {
    if (requestedWorld === world.value) trouble.value = error;
  }
}

/** Reload the list of worlds. */
export async function refreshWorlds() {
  worlds.value = (await api.get("/worlds")).items;
}

/**
 * Return a function that runs some work soon, but never twice at the same time. During a stream of events, the work takes
 * at most a tenth of the time.
 * @param {() => Promise<void>} work
 */
export function calmly(work) {
  let waiting = false;
  let took = 0;
  let mustRepeat = false;
  const run = async () => {
    const began = performance.now();
    mustRepeat = false;
    try {
      await work();
    } catch {
      // The panels show the error. The next event starts another attempt.
    }
    took = performance.now() - began;
    waiting = false;
    if (mustRepeat) ask();
  };
  const ask = () => {
    mustRepeat = waiting;
    if (waiting) return;
    waiting = true;
    setTimeout(run, Math.max(took ? 500 : 0, took * 10));
  };
  return ask;
}

const refreshSoon = calmly(refresh);
const refreshWorldsSoon = calmly(refreshWorlds);
const loadInfo = () => api.get("/info").then((response) => (info.value = response), () => {});

/** Load the findings about the client. Any request may cause new findings. */
const countFindings = calmly(async () => {
  const requestedWorld = world.value;
  const report = await inWorld.get("/conduct");
  if (requestedWorld !== world.value) return;
  /** @type {Record<number, any[]>} */
  const of = {};
  for (const finding of report.findings) for (const n of finding.requests) (of[n] ??= []).push(finding);
  findings.value = { count: /** @type {number[]} */ (Object.values(report.counts)).reduce((sum, count) => sum + count, 0), of };
});

/** Update the faults after one was armed, counted a request, or was removed. */
function noteFault({ removed, ...counts }) {
  faultNews += 1;
  const others = faults.value.filter((fault) => fault.id !== counts.id);
  if (removed) faults.value = others;
  else if (others.length === faults.value.length) refreshSoon();
  else faults.value = faults.value.map((fault) => (fault.id === counts.id ? { ...fault, ...counts } : fault));
}

/** Request the clock when an event becomes due. The request makes the emulator run the event. */
function watchClock() {
  let isRequesting = false;
  setInterval(async () => {
    if (document.hidden || connection.value === "lost") return;
    tick.value += 1;
    const due = clock.value?.next_due_at;
    if (isRequesting || !due || connection.value !== "live" || nowMs.peek() < Date.parse(due)) return;
    if (!["real", "scaled"].includes(clock.value.mode)) return;
    isRequesting = true;
    try {
      setClock(await inWorld.get("/clock"));
    } catch {
      // The connection state in the bar shows the error.
    }
    isRequesting = false;
  }, 1000);
}

/** Load everything, listen for events, and reload whenever the page switches to another world. */
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
  // A request that a fault only considers causes no commit.
  listen("request", () => faults.value.length > 0 && refreshSoon());
  for (const kind of /** @type {const} */ (["world", "gap"])) listen(kind, refreshSoon);
  for (const kind of /** @type {const} */ (["world", "worlds", "gap"])) listen(kind, refreshWorldsSoon);
  for (const kind of /** @type {const} */ (["request", "world", "gap"])) listen(kind, countFindings);
  listen("gap", loadInfo);
  effect(() => {
    // Either the emulator has stopped or this world no longer exists. Send a request to find out which.
    if (connection.value === "lost") untracked(() => [refreshSoon(), refreshWorldsSoon()]);
  });
  refreshWorlds().catch((error) => (trouble.value = error));
  loadInfo();
  watchClock();
  startEvents();
}
