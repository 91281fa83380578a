// Holds one event stream for each world, whatever the number of pages: a browser opens only six
// connections to one host, and each page's own stream would soon use them up. A shared worker.

const KINDS = ["request", "commit", "clock", "fault", "outcome", "world", "worlds", "gap"];
const PATIENCE_MS = 2000;

/** @type {Map<string, {source: EventSource | null, state: string, ports: Set<MessagePort>, again?: number}>} */
const streams = new Map();

function join(world, port) {
  const found = streams.get(world) ?? { source: null, state: "connecting", ports: new Set() };
  streams.set(world, found);
  found.ports.add(port);
  port.postMessage({ state: found.state });
  if (!found.source) connect(world);
}

function leave(world, port) {
  const found = streams.get(world);
  if (!found?.ports.delete(port) || found.ports.size) return;
  clearTimeout(found.again);
  found.source?.close();
  streams.delete(world);
}

function connect(world) {
  const found = streams.get(world);
  if (!found) return;
  const tell = (message) => found.ports.forEach((port) => port.postMessage(message));
  const source = new EventSource(`/_emulator/worlds/${encodeURIComponent(world)}/events`);
  found.source = source;
  source.onopen = () => tell({ state: (found.state = "live") });
  source.onerror = () => {
    tell({ state: (found.state = "lost") });
    if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
    found.again = setTimeout(() => connect(world), PATIENCE_MS);
  };
  for (const kind of KINDS) {
    source.addEventListener(kind, ({ data }) => tell({ kind, data }));
  }
}

function attend(port) {
  let here = "";
  port.onmessage = ({ data }) => {
    if (here) leave(here, port);
    here = data.world;
    if (here) join(here, port);
  };
}

// @ts-ignore: the global of a shared worker
self.onconnect = (/** @type {MessageEvent} */ event) => attend(event.ports[0]);
// Where there are no shared workers, a page imports this file and attends by itself.
// @ts-ignore
self.attendEvents = attend;
