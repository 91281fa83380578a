// Live requests: new requests appear as they arrive, and nothing moves under the pointer. The emulator does the searching.

import { inWorld } from "../api.js";
import { callName, calls } from "../calls.js";
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { Address, StatusBadge, Badge, Button, Empty, Failure, Loaded, Loading, Lost, Panel, Select } from "../parts.js";
import { FIRST, MOST, loadOlder, reloadRequests, requestsState } from "../requests-store.js";
import { useStill } from "../still.js";
import { findings, go, link, requests, route, summary, total, world } from "../store.js";
import { counted, moment, shortIds, took } from "../words.js";
import { RequestDetail } from "./request-detail.js";
import { SaveScenario } from "./save-scenario.js";

const TYPING_MS = 200;

export default function Requests({ arg, query }) {
  const [paused, setPaused] = useState(false);
  /** The rows that are shown. */
  const order = useRef(/** @type {any[]} */ ([]));
  /** Whether the user is moving through the list by keyboard. The list then keeps the focus. */
  const walking = useRef(false);
  const search = new URLSearchParams(query).toString();
  const har = `/_emulator/worlds/${encodeURIComponent(world.value)}/requests.har?${search}`;
  /** Open the next or previous request in the list instead of the request that is open. */
  const step = (/** @type {number} */ by, from = Number(arg)) => {
    const next = order.current[order.current.findIndex(({ n }) => n === from) + by]?.n;
    if (arg && next) go("requests", next, query, { replace: true });
    return next;
  };
  const walk = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const { target } = event;
    if (!by || !(target instanceof HTMLElement)) return;
    const row = /** @type {HTMLElement | null} */ (target.closest(".requests li"));
    if (!row && !target.matches(".detail h2")) return;
    event.preventDefault();
    walking.current = Boolean(row);
    if (row) rowLink(step(by, Number(row.dataset.n)))?.focus();
    else step(by);
  };
  const close = () => {
    go("requests", "", query);
    rowLink(arg)?.focus();
  };
  return html`<${Panel} title="Requests"
    lead=${`${counted(total.value, "request")} so far. Newest first, each with the reason for its response.`}
    actions=${html`<a class="button" href=${har} download="requests.har">Export HAR</a>
      <${SaveScenario} />
      <${Button} pressed=${paused} onClick=${() => setPaused(!paused)}>${paused ? "Paused" : "Pause"}<//>`}>
    ${summary.value && html`<p class="row base"><span class="quiet">Base URL</span> <${Address} text=${summary.value.base_url} />
      <a href=${link("connect")}>Connect a client</a></p>`}
    <${Filter} query=${query} />
    <div class=${`split${arg ? " open" : ""}`} onKeyDown=${walk}>
      <div class="list-side">
        ${search ? html`<${Found} key=${search} search=${search} paused=${paused} order=${order} current=${Number(arg)} query=${query} />`
          : html`<${All} paused=${paused} order=${order} current=${Number(arg)} query=${query} />`}
      </div>
      ${arg && html`<${RequestDetail} key=${arg} n=${arg} close=${close} step=${step} walking=${walking} />`}
    </div>
  <//>`;
}

const rowLink = (n) => /** @type {HTMLElement | null} */ (document.querySelector(`.requests [data-n="${n}"] a`));

function Filter({ query }) {
  const [text, setText] = useState(query.text ?? "");
  const timer = useRef(0);
  useEffect(() => setText(query.text ?? ""), [query.text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    go("requests", route.value.arg, { ...route.value.query, [name]: value }, { replace: true });
  const type = (event) => {
    const { value } = event.target;
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => set("text")(value), TYPING_MS);
  };
  const { users = [], projects = [] } = summary.value ?? {};
  return html`<form class="filters" role="search" aria-label="Filter requests" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <input type="search" aria-label="Text" placeholder="Path, code, reason, body…" value=${text} onInput=${type} />
    ${[
      { name: "call", label: "Call", of: calls.value.map(({ id, says }) => ({ value: id, label: says })) },
      { name: "status", label: "Status", of: ["2xx", "4xx", "5xx"] },
      { name: "project", label: "Project", of: projects.map((row) => ({ value: row.id, label: row.alias })) },
      { name: "user", label: "User", of: [...users.map((row) => row.alias), "nobody"] },
    ].map(({ name, label, of }) => html`<${Select} key=${name} aria-label=${label} value=${query[name] ?? ""} set=${set(name)}
      choices=${[{ value: "", label: `Any ${label.toLowerCase()}` }, ...of]} />`)}
    ${Object.keys(query).length > 0 && html`<${Button} kind="quiet" onClick=${() => go("requests", route.value.arg, {}, { replace: true })}>Clear<//>`}
  </form>`;
}

/** The matches in the emulator's whole request log. */
const Found = ({ search, ...rest }) => html`
  <${Loaded} from=${() => inWorld.get(`/requests?${search}&limit=${MOST}&trail=false`)} on=${["request", "world"]}>
    ${({ items }) => html`<${Rows} all=${items} none="No request in the log matches the filter." ...${rest} />
      ${items.length === MOST && html`<p class="small quiet older">The newest ${MOST} matches are shown.</p>`}`}
  <//>`;

function All(rest) {
  const state = requestsState.value;
  if (state === "loading") return html`<${Loading} />`;
  if (state !== "ready") return html`<${Failure} error=${state} again=${() => reloadRequests()} />`;
  return html`<${Rows} all=${requests.value} ...${rest}
    none=${html`No request yet. <a href=${link("connect")}>Connect a client</a>, or <a href=${link("try")}>send one from here</a>.`} />
    <${Older} />`;
}

function Rows({ all, paused, order, current, query, none }) {
  const { rows, fresh, show, hold } = useStill(all, (item) => item.n, paused);
  order.current = rows;
  const aliases = Object.fromEntries((summary.value?.projects ?? []).map((row) => [row.id, row.alias]));
  return html`<div class="fresh">
      <span class="small quiet">${counted(rows.length, "request")} shown${paused ? ", paused" : ""}</span>
      ${fresh > 0 && html`<${Button} small kind="primary" onClick=${show}>${fresh} new<//>`}
    </div>
    ${!rows.length ? html`<${Empty}>${none}<//>` : html`
      <p class="columns small quiet" aria-hidden="true">${["No.", "Status", "Call", "Project", "User", "Took", "Time"].map((name) => html`<span class=${name.toLowerCase()}>${name}</span>`)}</p>
      <ol class="requests" ...${hold} aria-label="Requests, newest first">
        ${rows.map((item) => html`<${Row} key=${item.n} item=${item} current=${item.n === current}
          flagged=${item.n in findings.value.of} project=${aliases[item.project] ?? item.project ?? "—"} to=${link("requests", item.n, query)} />`)}
      </ol>`}`;
}

/** Says how many requests the list contains, and loads older ones. The focus then moves to the first of those. */
function Older() {
  const { length } = requests.value;
  const note = useRef(null);
  if (length < FIRST || length >= total.value) return null;
  const older = async () => {
    const before = document.querySelectorAll(".requests li").length;
    await loadOlder(); // When this returns, the older rows have been rendered.
    /** @type {HTMLElement | null} */
    const came = document.querySelector(`.requests li:nth-child(${before + 1}) a`);
    (came ?? note.current)?.focus({ preventScroll: true });
  };
  return html`<p class="row older"><span class="small quiet" tabindex="-1" ref=${note}>The newest ${length} of ${total.value.toLocaleString("en")} are shown${length < MOST ? "." : "; search covers the whole log."}</span>
    ${length < MOST && html`<${Button} small onClick=${older}>Older ones<//>`}</p>`;
}

/** A row changes only when it becomes current or stops being so, so preact can skip it otherwise. @param {{item: any, current: boolean, flagged: boolean, project: string, to: string}} props */
function Row({ item, current, flagged, project, to }) {
  return useMemo(
    () => html`<li class=${current ? "current" : ""} data-n=${item.n}>
      <a href=${to} aria-current=${current ? "true" : undefined}>
        <span class="n number quiet">${item.n}</span>
        <${StatusBadge} of=${item} />
        <span class="what"><b>${callName(item.call)}</b>
          ${item.replayed && html`<${Badge}>replay<//>`}${item.stale_at && html`<${Badge}>stale<//>`}${item.second_delivery_of && html`<${Badge}>second delivery<//>`}<${Lost} of=${item} />
          ${flagged && html`<${Badge} tone="warn">conduct<//>`}
          ${item.code && html`<code class="quiet">${item.code}</code>`}
          ${item.why.length > 0 && html`<span class="line reason cut">${item.why.join(" ")}</span>`}
          <span class="line cut mono quiet">${item.method} ${shortIds(item.path)}${item.query && `?${item.query}`}</span>
        </span>
        <span class="project quiet cut">${project}</span>
        <span class="user quiet cut">${item.user ?? "—"}</span>
        <span class="took number quiet">${took(item.duration_us)}</span>
        <time class="number quiet" datetime=${item.at}>${moment(item.at)}</time>
      </a>
    </li>`,
    [item, current, flagged, project, to],
  );
}
