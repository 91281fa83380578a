// Faults: buttons for everyday faults, a form built from the emulator's schema (also used for outcomes), and live hit counts.
import { html, useState } from "../lib.js";
import { api, inWorld } from "../api.js";
import { calls } from "../calls.js";
import { faults, refresh, summary } from "../store.js";
import { act, Badge, Button, Form, Loaded, Loading, Panel, Section, surely, Table, toast } from "../parts.js";
import { documentOf, fieldsOf, textOf } from "./fields.js";
import { Pick, removeRow, toTitle } from "./find.js";

const NOT_RULE = new Set(["id", "order", "considered", "seen", "hits", "spent", "unused", "note", "after_commit", "armed_at", "protected", "world"]);
/** Keys of a fault or an outcome whose values are objects, although they are not kinds. */
const RULE_OBJECTS = new Set(["header", "query", "body", "while"]);
/** The fields that most faults need. The other fields are initially collapsed. */
const USUAL = new Set(["call", "project", "principal", "times", "after_commit"]);
const METHODS = ["GET", "POST", "PUT"];

const FAULT = {
  noun: "fault", title: "Faults", add: "Arm a fault", any: "any request, always", reload: refresh,
  lead: "Failures you inject, and how often each one acted.",
  none: "No fault is armed.", armed: "Faults of this world", states: ["armed", "used up"], submit: "Arm",
};
/** Common failures, each with a button. */
const PRESETS = [
  { name: "Slow", about: "the response comes two seconds late", does: { latency: { delay_ms: 2000 } } },
  { name: "Service unavailable", about: "503, the request is not applied", does: { abort: { code: "service_unavailable" } } },
  { name: "Rate limited", about: "429, or 400 where a call has no 429, with Retry-After; the request is not applied", does: { abort: { code: "rate_limited" } } },
  { name: "Connection lost", about: "connection reset, the request is not applied", does: { connection_reset: {} } },
  { name: "Response lost", about: "connection reset after the request is applied", does: { connection_reset: {}, after_commit: true } },
];
const TIMES = [{ value: "1", label: "the next request" }, { value: "3", label: "the next three" }, { value: "", label: "until removed" }];

export default ({ query }) => html`<${ArmedPanel} of=${FAULT} rows=${faults.value} first=${query.kind}><${Presets} /><//>`;

function Presets() {
  const [call, setCall] = useState("");
  const [times, setTimes] = useState("1");
  const arm = (does) => act(
    () => inWorld.post("/faults", { ...does, ...(call && { call }), ...(times && { times: Number(times) }) }),
    (created) => `${created.id} is armed.`, refresh);
  return html`<${Section} title="Everyday faults">
    <div class="row filters">
      <${Pick} label="How often" name="times" value=${times} set=${setTimes} choices=${TIMES} />
      <${Pick} label="Call" name="call" value=${call} set=${setCall} choices=${[{ value: "", label: "any call" }, ...calls.value.map(({ id, says }) => ({ value: id, label: says }))]} />
    </div>
    <ul class="presets">${PRESETS.map(({ name, about, does }) => html`<li key=${name}>
      <${Button} onClick=${() => arm(does)}>${name}<//> <span class="quiet small">${about}</span></li>`)}</ul>
  <//>`;
}

/** A panel with a form for a fault or an outcome. If it has children for common cases, the form is for all other cases. @param {{of: typeof FAULT, rows: any[], first?: string, children?: any}} props */
export function ArmedPanel({ of, rows, first, children }) {
  const clear = () => surely(
    { title: `Clear ${of.noun}s`, text: `Remove all ${of.noun}s from this world?`, yes: "Remove all", danger: true },
    () => inWorld.delete(`/${of.noun}s`), `Removed all ${of.noun}s.`, () => of.reload().then(toTitle));
  return html`<${Panel} title=${of.title} lead=${of.lead}>
    ${children}
    <${Section} title=${of.armed} actions=${rows.length > 0 && html`<${Button} kind="quiet" onClick=${clear}>Clear all<//>`}>
      ${summary.value ? html`<${Armed} of=${of} rows=${rows} />` : html`<${Loading} />`}
    <//>
    <${children ? Advanced : Section} title=${of.add} open=${Boolean(first)}>
      <${Loaded} from=${() => described(of.noun)} on=${[]}>${(about) => html`<${Arm} of=${of} about=${about} first=${first} />`}<//>
    <//>
  <//>`;
}

const Advanced = ({ open, children }) => html`<details class="card" open=${open}>
  <summary>Advanced: every kind of fault, every way to match</summary>${children}</details>`;

async function described(noun) {
  const [kinds, schema, problems] = await Promise.all([
    api.get(`/contract/${noun}-kinds`), api.get("/contract/scenario-schema.json"), api.get("/contract/problems"),
  ]);
  return { ...kinds, defs: schema.$defs, codes: problems.items.map((one) => one.code) };
}

function Armed({ of, rows }) {
  const remove = (event, id) => removeRow(event, `/${of.noun}s/${id}`, `Removed ${id}.`, of.reload);
  return html`<${Table} caption=${`Armed ${of.noun}s`} none=${of.none} rows=${rows} of=${(fault) => fault.id} columns=${[
    { name: of.title.slice(0, -1), cell: (fault) => html`<span class="whole">${fault.id}</span>` },
    { name: "Does", wide: true, cell: effectText },
    { name: "When", wide: true, cell: (fault) => ruleText(fault, of.any) },
    { name: "Considered", number: true, cell: (fault) => fault.considered },
    { name: "Seen", number: true, cell: (fault) => fault.seen },
    { name: "Hits", number: true, cell: (fault) => fault.hits },
    { name: "State", cell: (fault) => html`<${Badge} tone=${fault.spent ? "calm" : "warn"}>${of.states[Number(fault.spent)]}<//>` },
    { name: "Remove", cell: (fault) => html`<${Button} small kind="quiet" label=${`Remove ${fault.id}`} onClick=${(event) => remove(event, fault.id)}>Remove<//>` },
  ]} />`;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const kindOf = (fault) => Object.keys(fault).find((name) => isObject(fault[name]) && !RULE_OBJECTS.has(name)) ?? "";

function effectText(fault) {
  const kind = kindOf(fault);
  const options = Object.entries(fault[kind] ?? {}).map(([name, value]) => `${name} ${isObject(value) ? JSON.stringify(value) : value}`);
  return html`<code>${kind}</code> ${options.join(", ")} <span class="quiet">${commitText(fault)}</span>`;
}

/** Says when a fault acts. Shows nothing for a fault without a commit phase. */
function commitText(fault) {
  if (typeof fault.after_commit !== "boolean") return "";
  return fault.after_commit ? "after commit" : "before commit";
}

function ruleText(fault, any) {
  const kind = kindOf(fault);
  const rule = Object.entries(fault).filter(([name]) => name !== kind && !NOT_RULE.has(name));
  const text = rule.map(([name, value]) => `${name} ${isObject(value) ? JSON.stringify(value) : value}`);
  return text.join(", ") || html`<span class="quiet">${any}</span>`;
}

function Arm({ of, about, first }) {
  const kinds = about.effects.map((one) => one.kind);
  const [kind, setKind] = useState(kinds.includes(first) ? first : kinds[0]);
  const [all, setAll] = useState(false);
  if (!summary.value) return html`<${Loading} />`;
  const effect = about.effects.find((one) => one.kind === kind);
  const knownValues = { code: about.codes, method: METHODS };
  const schema = about.defs[of.title.slice(0, -1)];
  const options = fieldsOf(schema.properties[kind], about.defs, knownValues)
    .map((field) => ({ ...field, value: textOf(effect.example[field.name] ?? field.value) }));
  const rules = fieldsOf(schema, about.defs, knownValues)
    .filter(({ name }) => !kinds.includes(name) && (all || USUAL.has(name)))
    .map((field) => ({ ...field, help: field.help || (about.matches[field.name] ?? about.conditions[field.name] ?? "") }));
  const arm = async (values) => {
    const created = await inWorld.post(`/${of.noun}s`, { [kind]: documentOf(options, values), ...documentOf(rules, values) });
    await of.reload();
    toast(`${created.id} is ${of.states[0]}.`, "good");
  };
  return html`<div class="stack fault-form">
    <${Pick} label="Kind" name="kind" value=${kind} set=${setKind} choices=${kinds} />
    <p class="quiet">${effect.about}</p>
    <label class="row"><input type="checkbox" name="all" checked=${all}
      onChange=${(event) => setAll(event.currentTarget.checked)} /> Every way to match and to count</label>
    <${Form} key=${`${kind} ${all}`} fields=${[...options, ...rules]} submit=${of.submit} onSubmit=${arm} />
  </div>`;
}
