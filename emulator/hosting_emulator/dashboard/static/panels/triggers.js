// Triggers: what each is waiting for, how often it has acted, and why it has not acted yet, updated live.
import { html } from "../lib.js";
import { inWorld } from "../api.js";
import { Badge, Loaded, Panel, Section, Table } from "../parts.js";
import { link } from "../store.js";
import { shortIds } from "../words.js";

/** The events that may change a trigger's counts, or what it is waiting for. */
const EVENTS = /** @type {const} */ (["request", "commit", "fault", "outcome", "clock", "world"]);

export default () => html`<${Panel} title="Triggers"
  lead="Faults, outcomes and timeline entries: what each waits for, and how often it has acted.">
  <${Section} title="Triggers of this world">
    <${Loaded} from=${() => inWorld.get("/triggers")} on=${EVENTS}
      empty=${(data) => !data.items.length && "Nothing is waiting to act: no fault or outcome is armed, and there is no timeline."}>
      ${(data) => html`<${Table} caption="Triggers" rows=${data.items} of=${(trigger) => trigger.id} columns=${COLUMNS} />`}
    <//>
  <//>
<//>`;

const COLUMNS = [
  { name: "Trigger", cell: (trigger) => html`<span class="whole">${nameOf(trigger)}</span>` },
  { name: "Does", cell: (trigger) => html`<code>${trigger.effect}</code>` },
  { name: "Waits for", wide: true, cell: waitsFor },
  { name: "Considered", number: true, cell: (trigger) => trigger.considered },
  { name: "Seen", number: true, cell: (trigger) => trigger.seen },
  { name: "Hits", number: true, cell: (trigger) => trigger.hits },
  { name: "State", cell: (trigger) => html`<${Badge} ...${stateOf(trigger)} />` },
];

/** Return a trigger's id, as a link to the panel for its kind. */
function nameOf({ id, type }) {
  if (type === "timeline entry") return id;
  return html`<a href=${link(`${type}s`)}>${id}</a>`;
}

/** Return what a trigger is waiting for and, below that, why it has not acted or what it did. */
function waitsFor(trigger) {
  const isPlanned = trigger.type === "timeline entry";
  const reason = trigger.result ?? (isPlanned ? null : trigger.unused);
  return html`${trigger.waits_for ?? html`<span class="quiet">nothing more</span>`}
    ${reason && html`<div class="quiet small">${shortIds(reason)} ${requestLink(reason)}</div>`}`;
}

/** Return a link to the request that is mentioned in a reason. @param {string} reason */
function requestLink(reason) {
  const number = reason.match(/nearest request was number (\d+)/)?.[1];
  return number && html`<a href=${link("requests", number)}>Open request ${number}</a>`;
}

function stateOf({ waits_for: awaited, hits }) {
  if (awaited !== null) return { tone: "warn", children: "waiting" };
  return hits ? { tone: "good", children: "acted" } : { tone: "calm", children: "over" };
}
