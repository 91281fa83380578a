// Live requests: what comes is shown as it comes, and nothing moves under the pointer.

import { callName, calls } from "../calls.js";
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { Answered, Badge, Button, Empty, Failure, Loading, Lost, Panel, Select } from "../parts.js";
import { FIRST, MOST, loadOlder, reloadRequests, requestsState } from "../requests-store.js";
import { useStill } from "../still.js";
import { go, link, requests, route, summary, total, world } from "../store.js";
import { counted, moment } from "../words.js";
import { choice } from "./fields.js";
import { RequestDetail } from "./request-detail.js";
import { SaveScenario } from "./save-scenario.js";

/** @param {{arg: string, query: Record<string, string>}} props */
export default function Requests({ arg, query }) {
  const [paused, setPaused] = useState(false);
  const all = requests.value;
  const wanted = useMemo(() => all.filter((item) => matches(item, query)), [all, query]);
  const { rows, fresh, show, hold } = useStill(wanted, (item) => item.n, paused);
  const visible = rows.filter((item) => matches(item, query));
  const har = `/_emulator/worlds/${encodeURIComponent(world.value)}/requests.har?${new URLSearchParams(query)}`;
  return html`<${Panel} title="Requests"
    lead=${`${counted(total.value, "request")} so far. Newest first, each with why it was answered so.`}
    actions=${html`<a class="button" href=${har} download="requests.har">Export HAR</a>
      <${SaveScenario} />
      <${Button} pressed=${paused} onClick=${() => setPaused(!paused)}>${paused ? "Paused" : "Pause"}<//>`}>
    <${Filter} query=${query} />
    <div class=${`split${arg ? " open" : ""}`}>
      <div class="list-side">
        <div class="fresh">
          <span class="small quiet">${counted(visible.length, "request")} shown${paused ? ", paused" : ""}</span>
          ${fresh > 0 && html`<${Button} small kind="primary" onClick=${show}>${fresh} new<//>`}
        </div>
        <${List} rows=${visible} hold=${hold} current=${Number(arg)} query=${query} filtered=${Object.keys(query).length > 0} />
      </div>
      ${arg && html`<${RequestDetail} key=${arg} n=${arg} close=${() => go("requests", "", query)} />`}
    </div>
  <//>`;
}

/** @param {any} item @param {Record<string, string>} query */
function matches(item, query) {
  if (query.call && item.call !== query.call) return false;
  if (query.who && item.who !== query.who) return false;
  if (query.status && !String(item.status).startsWith(query.status[0])) return false;
  if (query.project && item.project !== query.project) return false;
  if (!query.text) return true;
  const text = `${item.n} ${item.method} ${item.path}?${item.query} ${item.status} ${item.code ?? ""} ${item.call ?? ""} ${item.why.join(" ")}`;
  return text.toLowerCase().includes(query.text.toLowerCase());
}

/** @param {{query: Record<string, string>}} props */
function Filter({ query }) {
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    go("requests", route.value.arg, { ...query, [name]: value }, { replace: true });
  const people = [...(summary.value?.people ?? []).map((row) => row.alias), "nobody"];
  return html`<form class="filters" role="search" aria-label="Filter requests" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <input type="search" aria-label="Text" placeholder="Path, code, reason…" value=${query.text ?? ""} onInput=${(event) => set("text")(event.target.value)} />
    ${[
      { name: "call", label: "Call", of: calls.value.map(({ id, says }) => ({ value: id, label: says })) },
      { name: "status", label: "Status", of: ["2xx", "4xx", "5xx"].map(choice) },
      { name: "who", label: "Person", of: people.map(choice) },
    ].map(({ name, label, of }) => html`<${Select} key=${name} aria-label=${label} value=${query[name] ?? ""} set=${set(name)}
      choices=${[{ value: "", label: `Any ${label.toLowerCase()}` }, ...of]} />`)}
    ${Object.keys(query).length > 0 && html`<${Button} kind="quiet" onClick=${() => go("requests", route.value.arg, {}, { replace: true })}>Clear<//>`}
  </form>`;
}

function List({ rows, hold, current, query, filtered }) {
  const state = requestsState.value;
  if (state === "loading") return html`<${Loading} />`;
  if (state !== "ready") return html`<${Failure} error=${state} again=${() => reloadRequests()} />`;
  if (!rows.length) {
    return html`<${Empty}>${filtered ? "No request fits the filter." : html`No request yet. <a href=${link("try")}>Try a call</a>, or point your client at this world.`}<//>
      <${Older} shown=${rows.length} />`;
  }
  return html`<ol class="requests" ...${hold} aria-label="Requests, newest first">
      ${rows.map((item) => html`<${Row} key=${item.n} item=${item} current=${item.n === current} to=${link("requests", item.n, query)} />`)}
    </ol>
    <${Older} shown=${rows.length} />`;
}

/** Says how far the list goes, and goes further; focus then stands on the first of what came. @param {{shown: number}} props */
function Older({ shown }) {
  const { length } = requests.value;
  const from = useRef(-1);
  const note = useRef(null);
  useEffect(() => {
    if (from.current < 0) return;
    const row = document.querySelectorAll(".requests li")[from.current];
    from.current = -1;
    (/** @type {HTMLElement | null | undefined} */ (row?.querySelector("a")) ?? note.current)?.focus({ preventScroll: true });
  }, [length]);
  if (length < FIRST || length >= total.value) return null;
  const older = async () => {
    from.current = shown;
    await loadOlder();
  };
  return html`<p class="row older"><span class="small quiet" tabindex="-1" ref=${note}>The newest ${length} of ${total.value.toLocaleString("en")} are here.</span>
    ${length < MOST && html`<${Button} small onClick=${older}>Older ones<//>`}</p>`;
}

/** A row never changes but for being current: preact skips the rest. @param {{item: any, current: boolean, to: string}} props */
function Row({ item, current, to }) {
  return useMemo(
    () => html`<li class=${current ? "current" : ""}>
      <a href=${to} aria-current=${current ? "true" : undefined}>
        <span class="n number quiet">${item.n}</span>
        <${Answered} of=${item} />
        <span class="what"><b>${callName(item.call)}</b>
          ${item.replayed && html`<${Badge}>replay<//>`}<${Lost} of=${item} />
          ${item.code && html`<code class="quiet">${item.code}</code>`}
          ${item.why.length > 0 && html`<span class="line reason cut">${item.why.join(" ")}</span>`}
          <span class="line cut mono quiet">${item.method} ${item.path}${item.query && `?${item.query}`}</span>
        </span>
        <span class="who quiet">${item.who ?? "—"}</span>
        <time class="number quiet" datetime=${item.at}>${moment(item.at)}</time>
      </a>
    </li>`,
    [item, current, to],
  );
}
