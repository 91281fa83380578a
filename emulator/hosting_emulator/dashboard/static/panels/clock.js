// The clock: how time passes in this world, and how to advance it.
import { html, useEffect, useState } from "../lib.js";
import { inWorld } from "../api.js";
import { clock, nowMs, refresh } from "../store.js";
import { act, Button, Facts, Form, Loading, Panel, Section, toast } from "../parts.js";
import { choicesFor } from "../choices.js";
import { counted, span } from "../words.js";

const MODES = [
  { value: "real", about: "runs at normal speed" },
  { value: "frozen", about: "stops until you move it" },
  { value: "scaled", about: "runs faster or slower: 60 is a minute each second" },
  { value: "skip", about: "jumps to the next event when an unfinished operation is polled" },
];
const PRESETS = [["10m", "10 minutes"], ["1h", "1 hour"], ["1d", "1 day"], ["90d", "90 days"]];
const BY = { name: "by", label: "By a duration", kind: "text", required: true, placeholder: "90s, 1h30m, 2d" };
const TO = { name: "to", label: "To a timestamp", kind: "text", required: true, placeholder: "2030-01-31T09:30:00Z" };

export default () => html`<${Panel} title="Clock" lead="Everything in a world follows its clock: operations, tickets, tokens, keys, DNS.">
  ${clock.value ? html`<${Now} /><${Move} /><${Mode} />` : html`<${Loading} />`}
<//>`;

function Now() {
  const { mode, rate, next_due_at: due, next_event: what, pending } = clock.value;
  const text = new Date(nowMs.value).toISOString();
  return html`<${Section} title="World time">
    <p class="clock-now"><time dateTime=${text}>${text.replace("T", " ").slice(0, 19)}</time> <span class="quiet">UTC</span></p>
    <${Facts} of=${[
      ["Mode", mode === "scaled" ? `scaled: ${rate} world seconds each second` : mode],
      ["Next event", due ? `${what ? `${what}, ` : ""}in ${span(Math.max(0, Date.parse(due) - nowMs.value))}, at ${due}` : "none"],
      ["Scheduled", counted(pending, "event")],
    ]} />
  <//>`;
}

/** Advance time, and return a sentence that says by how much. @param {Record<string, any>} how */
async function advance(how) {
  const moved = await inWorld.post("/clock/advance", how);
  await refresh();
  return `Time advanced by ${span(moved.moved_ms)}. ${counted(moved.events_run, "event")} ran.`;
}

function Move() {
  const due = clock.value.next_due_at;
  const move = (how) => act(() => advance(how), (/** @type {string} */ sentence) => sentence);
  /** For forms, which show errors themselves. */
  const sent = async (how) => toast(await advance(how), "good");
  const until = {
    name: "until_operation", label: "Until an operation ends", kind: "select", required: true,
    choices: choicesFor("operation") ?? [],
  };
  return html`<${Section} title="Move time" lead="All due events run in order. Time never moves back.">
    <div class="row" role="group" aria-label="Advance by">
      ${PRESETS.map(([by, label]) => html`<${Button} key=${by} onClick=${() => move({ by })}>+ ${label}<//>`)}
      <${Button} disabled=${!due} onClick=${() => move({ to: due })}>To the next event<//>
    </div>
    <div class="clock-forms">
      <${Form} inline fields=${[BY]} submit="Advance" onSubmit=${sent} />
      <${Form} inline fields=${[TO]} submit="Go there" onSubmit=${sent} />
      ${until.choices.length
        ? html`<${Form} inline fields=${[until]} submit="Until it ends" onSubmit=${sent} />`
        : html`<p class="quiet small">No operation is in progress.</p>`}
    </div>
  <//>`;
}

function Mode() {
  const was = clock.value;
  /** The mode and rate that the user has chosen but not yet set. A change of the clock discards them. */
  const [chosen, choose] = useState({});
  useEffect(() => choose({}), [was.mode, was.rate]);
  const { mode, rate } = { mode: was.mode, rate: was.mode === "scaled" ? was.rate : 60, ...chosen };
  const change = () => act(
    () => inWorld.put("/clock", mode === "scaled" ? { mode, rate: Number(rate) } : { mode }), `The clock is now ${mode}.`, refresh);
  return html`<${Section} title="How time passes">
    <fieldset class="clock-modes"><legend class="visually-hidden">Mode</legend>
      ${MODES.map(({ value, about }) => html`<label key=${value}>
        <input type="radio" name="mode" value=${value} checked=${mode === value} onChange=${() => choose({ ...chosen, mode: value })} />
        <span><b>${value}</b> <span class="quiet">${about}</span></span></label>`)}
    </fieldset>
    <div class="row">
      ${mode === "scaled" && html`<label class="row">Rate
        <input type="number" name="rate" min="0.001" step="any" value=${rate}
          onInput=${(event) => choose({ ...chosen, rate: event.currentTarget.value })} /></label>`}
      <${Button} onClick=${change}>Set mode<//>
    </div>
  <//>`;
}
