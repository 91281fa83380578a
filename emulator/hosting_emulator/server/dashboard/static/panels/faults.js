// Faults: armed from a form that the emulator describes itself, with their hits as they happen.
import { html, useState } from "../lib.js";
import { api, inWorld } from "../api.js";
import { useResource } from "../resource.js";
import { faults, refresh, summary } from "../store.js";
import { act, ask, Badge, Button, Empty, Form, Loading, Panel, Section, Shown, Table, toast } from "../parts.js";
import { choice, documentOf, fieldsOf } from "./fields.js";
import { Pick, removingRow, toTitle } from "./find.js";

const NOT_RULE = new Set(["id", "order", "seen", "hits", "spent", "phase", "armed_at"]);
/** What most faults need; the rest unfolds. */
const USUAL = new Set(["call", "project", "principal", "times", "phase"]);
const METHODS = ["GET", "POST", "PUT"].map(choice);

/** @param {{query: Record<string, string>}} props */
export default function Faults({ query }) {
  const about = useResource(described, { on: [] });
  const clear = async () => {
    if (!await ask({ title: "Clear faults", text: "Remove every fault of this world?", yes: "Remove all", danger: true })) return;
    await act(async () => {
      await inWorld.delete("/faults");
      await refresh();
    }, "Every fault is removed.");
    toTitle();
  };
  const some = faults.value.length > 0;
  return html`<${Panel} title="Faults" lead="What is armed to go wrong, and how often it did.">
    <${Section} title="Armed" actions=${some && html`<${Button} kind="quiet" onClick=${clear}>Clear all<//>`}>
      ${!summary.value ? html`<${Loading} />` : some ? html`<${Armed} />`
        : html`<${Empty}>No fault is armed: every call is answered as it should be.<//>`}
    <//>
    <${Section} title="Arm a fault">
      <${Shown} of=${about}>${(d) => html`<${Arm} about=${d} first=${query.kind} />`}<//>
    <//>
  <//>`;
}

async function described() {
  const [kinds, schema, problems] = await Promise.all([
    api.get("/contract/fault-kinds"), api.get("/contract/scenario-schema.json"), api.get("/contract/problems"),
  ]);
  return { ...kinds, defs: schema.$defs, codes: problems.items.map((one) => choice(one.code)) };
}

function Armed() {
  const remove = (event, id) => removingRow(event, () => act(async () => {
    await inWorld.delete(`/faults/${id}`);
    await refresh();
  }, `${id} is removed.`));
  return html`<${Table} caption="Armed faults" rows=${faults.value} of=${(fault) => fault.id} columns=${[
    { name: "Fault", cell: (fault) => html`<span class="whole">${fault.id}</span>` },
    { name: "Does", wide: true, cell: effectText },
    { name: "When", wide: true, cell: ruleText },
    { name: "Seen", number: true, cell: (fault) => fault.seen },
    { name: "Hits", number: true, cell: (fault) => fault.hits },
    { name: "State", cell: (fault) => fault.spent ? html`<${Badge} tone="calm">spent<//>` : html`<${Badge} tone="warn">armed<//>` },
    { name: "Remove", cell: (fault) => html`<${Button} small kind="quiet" label=${`Remove ${fault.id}`} onClick=${(event) => remove(event, fault.id)}>Remove<//>` },
  ]} />`;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const kindOf = (fault) => Object.keys(fault).find((name) => isObject(fault[name]) && name !== "header") ?? "";

function effectText(fault) {
  const kind = kindOf(fault);
  const options = Object.entries(fault[kind] ?? {}).map(([name, value]) => `${name} ${value}`);
  return html`<code>${kind}</code> ${options.join(", ")} <span class="quiet">${fault.phase.replace("_", " ")}</span>`;
}

function ruleText(fault) {
  const kind = kindOf(fault);
  const rule = Object.entries(fault).filter(([name]) => name !== kind && !NOT_RULE.has(name));
  const text = rule.map(([name, value]) => `${name} ${isObject(value) ? JSON.stringify(value) : value}`);
  return text.join(", ") || html`<span class="quiet">any request, always</span>`;
}

function Arm({ about, first }) {
  const kinds = about.effects.map((one) => one.kind);
  const [kind, setKind] = useState(kinds.includes(first) ? first : kinds[0]);
  const [all, setAll] = useState(false);
  if (!summary.value) return html`<${Loading} />`;
  const effect = about.effects.find((one) => one.kind === kind);
  const known = { code: about.codes, method: METHODS };
  const options = fieldsOf(about.defs.Fault.properties[kind], about.defs, known)
    .map((field) => ({ ...field, value: String(effect.example[field.name] ?? field.value) }));
  const rules = fieldsOf(about.defs.Fault, about.defs, known)
    .filter(({ name }) => !kinds.includes(name) && (all || USUAL.has(name)))
    .map((field) => ({ ...field, help: field.help || (about.matches[field.name] ?? about.conditions[field.name] ?? "") }));
  /** @param {Record<string, any>} values */
  const arm = async (values) => {
    const made = await inWorld.post("/faults", { [kind]: documentOf(options, values), ...documentOf(rules, values) });
    await refresh();
    toast(`${made.id} is armed.`, "good");
  };
  return html`<div class="stack fault-form">
    <${Pick} label="Kind" name="kind" value=${kind} set=${setKind} choices=${kinds.map(choice)} />
    <p class="quiet">${effect.about}</p>
    <label class="row"><input type="checkbox" name="all" checked=${all}
      onChange=${(event) => setAll(event.currentTarget.checked)} /> Every way to match and to count</label>
    <${Form} key=${`${kind} ${all}`} fields=${[...options, ...rules]} submit="Arm" onSubmit=${arm} />
  </div>`;
}
