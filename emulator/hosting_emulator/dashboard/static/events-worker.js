// A shared worker that opens one event stream for all pages, and for the worlds that they show. A browser opens
// at most six connections to a host, so a separate stream for each page would soon use them up.

const KINDS = ["request", "commit", "clock", "fault", "outcome", "world", "worlds", "gap"];
const PATIENCE_MS = 2000;

/** @type {Map<MessagePort, string>} the world that each page shows */
const shown = new Map();
/** @type {EventSource | undefined} */
let source;
let state = "connecting";
let seen = "";
let retryTimer = 0;

function turn(/** @type {string} */ now) {
  state = now;
  shown.forEach((_, port) => port.postMessage({ state }));
}

/** Listen to the worlds that pages show, starting after the latest event. */
function connect() {
  source?.close();
  source = undefined;
  if (!shown.size) return;
  const worlds = [...new Set(shown.values())].sort().join();
  source = new EventSource(`/_emulator/events?${new URLSearchParams({ worlds, seen })}`);
  source.onopen = () => turn("live");
  source.onerror = () => {
    turn("lost");
    if (source?.readyState === EventSource.CLOSED) soon(PATIENCE_MS); // otherwise the browser reconnects
  };
  for (const kind of KINDS) source.addEventListener(kind, (event) => hear(kind, event));
}

function soon(after = 0) {
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, after);
}

function hear(/** @type {string} */ kind, { data, lastEventId }) {
  seen = lastEventId;
  const { world, name } = JSON.parse(data);
  shown.forEach((here, port) => (kind === "worlds" || here === world) && port.postMessage({ kind, data }));
  if (kind === "worlds" && [...shown.values()].includes(name)) soon();
}

function attend(/** @type {MessagePort} */ port) {
  port.onmessage = ({ data }) => {
    if (data.world) shown.set(port, data.world);
    else shown.delete(port);
    port.postMessage({ state: "connecting" });
    soon();
  };
}

// @ts-ignore: the global of a shared worker
self.onconnect = (/** @type {MessageEvent} */ event) => attend(event.ports[0]);
// In a browser without shared workers, a page imports this file and calls this function itself.
// @ts-ignore
self.attendEvents = attend;
