// One operation: its state, the explanation, and the buttons that advance it.

import { inWorld } from "../api.js";
import { html } from "../lib.js";
import { Button, Code, Facts, Intervene, Loaded, Moment, Section, StateBadge, act } from "../parts.js";
import { clock, link, unfinished } from "../store.js";
import { capital, counted, sinceNow, span, spoken } from "../words.js";
import { focused } from "./find.js";

export const OperationDetail = ({ id }) => html`<${Section} heading=${focused} title=${html`Operation <code>${id}</code>`}
    actions=${html`<a class="button small quiet" data-closes title="Close (Escape)" href=${link("operations")}>Close</a>`}>
  <${Loaded} from=${() => inWorld.get(`/operations/${id}/why`)} on=${["commit", "clock", "world", "fault"]}>
    ${(why, reload) => html`<${Why} of=${why} reload=${reload} />`}<//>
<//>`;

function Why({ of, reload }) {
  const row = unfinished.value.find(({ id }) => id === of.operation);
  return html`<div class="grid">
    <div class="stack">
      <p class="row"><${StateBadge} state=${of.state} />${row?.stuck && html`<${StateBadge} state="stuck" />`} <b>${spoken(of.kind)}</b> of <a href=${link("projects", of.project)}>${of.project}</a></p>
      <div><h3>Why it is in this state</h3><ul class="says">${of.sentences.map((/** @type {string} */ text) => html`<li key=${text}>${text}</li>`)}</ul></div>
      ${!of.finished && html`<${Steer} of=${of} stuck=${Boolean(row?.stuck)} reload=${reload} />`}
    </div>
    <div class="stack">
      <${Facts} of=${[
        ["Phase", spoken(of.phase)],
        ["Next", of.next ? html`${of.next.event}, <${Moment} at=${of.next.at} /> <span class="quiet">(${sinceNow(of.next.at)})</span>` : html`<span class="quiet">nothing scheduled</span>`],
        of.waits_for && ["Waits for", html`<a href=${link("operations", of.waits_for)}>${of.waits_for}</a>`],
        of.held_by && ["Held by", of.held_by],
        ["Clock", html`<a href=${link("clock")}>${clock.value?.mode}</a>`],
        ["Requests", html`<a href=${link("requests", "", { text: of.operation })}>Show its requests</a>`],
      ].filter(Boolean)} />
      ${of.commands.length > 0 && html`<${Code} shell label="Commands that advance it" text=${of.commands.join("\n")} />`}
    </div>
  </div>`;
}

function Steer({ of, stuck, reload }) {
  const fixed = { operation: of.operation };
  const advance = () => act(
    () => inWorld.post("/clock/advance", { until_operation: of.operation }),
    (response) => `Time advanced by ${span(response.moved_ms)}. ${counted(response.events_run, "event")} ran.`, reload);
  const step = () => act(
    () => inWorld.post(`/operations/${of.operation}/step`), (response) => `It is now ${response.state}.`, reload);
  const held = of.held_by === "the hold_claim intervention" && html`<${Intervene} word="release_claim" label="Release held claim" primary fixed=${{ project: of.project }} />`;
  if (of.kind === HELD) return html`<div class="row">${held}</div>`;
  return html`<div>
    <h3>Advance it</h3>
    <div class="row">
      ${held}${stuck
        ? html`<${Intervene} word="release_operation" label="Release" primary fixed=${fixed} />`
        : html`${of.next && html`<${Button} small kind="primary" onClick=${advance}>Advance time until it ends<//>`}
          ${!of.waits_for && html`<${Button} small onClick=${step}>Take a step<//>`}
          <${Intervene} word="stick_operation" label="Make it stuck" fixed=${fixed} />`}
      <${Intervene} word="fail_operation" label="Fail" danger fixed=${fixed} fields=${FAILURE} />
      <${Intervene} word="cancel_operation" label="Cancel" danger fixed=${fixed} />
      ${(RECONCILIATION[of.reconciliation] ?? RECONCILIATION.none).map((step) => html`<${Intervene} key=${step}
        word=${`${step}_reconciliation`} label=${`${capital(step)} reconciliation`} fixed=${fixed} />`)}
    </div>
  </div>`;
}

/** The kind of an operation that only holds a project's claim. It can only be released. */
const HELD = "held_by_intervention";

/** The possible steps of a reconciliation, by its state. @type {Record<string, string[]>} */
const RECONCILIATION = { none: ["require"], completed: ["require"], required: ["run"], running: ["complete", "exhaust"], exhausted: [] };

const FAILURE = [
  { name: "code", label: "Code", value: "operation_failed", required: true },
  { name: "message", label: "Message", value: "The operation failed.", required: true },
  { name: "retryable", label: "Retryable by the client", kind: "checkbox" },
];
