// Interventions: every change to a world that no call of the contract can make, each with its own form.
import { html, useState } from "../lib.js";
import { api, inWorld } from "../api.js";
import { useResource } from "../resource.js";
import { go, said, summary } from "../store.js";
import { Empty, Form, Loaded, Loading, Panel, Section } from "../parts.js";
import { capital, spoken } from "../words.js";
import { documentOf, fieldsOf } from "./fields.js";
import { focused, Picks } from "./find.js";

export default ({ arg }) => html`<${Panel} title="Interventions" lead="Change the world in ways that a client cannot.">
  <${Loaded} from=${described} on=${[]}>${(data) => html`
    <div class="beside">
      <${Section} title="Changes">
        <${Picks} panel="interventions" items=${data.items.map(asPick)} chosen=${arg} /><//>
      <${Chosen} key=${arg} all=${data} one=${data.items.find((item) => item.name === arg)} />
    </div>`}<//>
<//>`;

const asPick = ({ name, about }) => ({ id: name, name: spoken(name), about });

async function described() {
  const [words, schema, assumptions] = await Promise.all([
    api.get("/contract/interventions"), api.get("/contract/scenario-schema.json"), api.get("/contract/assumptions"),
  ]);
  const { default: permissions } = assumptions.items.find((one) => one.name === "key_permissions");
  return { items: words.items, defs: schema.$defs, permissions };
}

/** Load the choices that are not in a summary: the tickets and keys that can still be used. */
async function things() {
  const [projects, keys] = await Promise.all([inWorld.get("/projects"), inWorld.get("/keys")]);
  const tickets = projects.items.flatMap((project) => project.tickets)
    .filter((ticket) => ticket.state === "unused");
  const active = keys.items.filter((key) => !key.revoked && !key.expired);
  return {
    ticket: tickets.map((one) => ({ value: one.id, label: `${one.user}'s …${one.id.slice(-6)}` })),
    key: active.map((one) => ({ value: one.id, label: `${one.name} (${one.user})` })),
  };
}

function Chosen({ one, all }) {
  const [result, setResult] = useState("");
  const holders = useResource(things, { on: ["commit", "world"] });
  if (!one) return html`<div><${Section} title="Details"><${Empty}>Choose a change.<//><//></div>`;
  if (!summary.value) return html`<${Loading} />`;
  const fields = fieldsOf(all.defs.Intervention.properties[one.name], all.defs, holders.data)
    .map((field) => toShow(field, all.permissions));
  const intervene = async (values) => {
    setResult("");
    const response = await inWorld.post("/interventions", { [one.name]: documentOf(fields, values) });
    setResult(`${capital(response.message)}.`);
    said.value = `${capital(response.message)}.`;
  };
  return html`<div ref=${focused} tabIndex="-1" role="group" aria-label=${spoken(one.name)}>
    <${Section} title=${capital(spoken(one.name))} lead=${one.about}>
      <${Form} fields=${fields} submit="Apply" onSubmit=${intervene} cancel=${() => go("interventions")} />
      ${result && html`<p class="result">${result}</p>`}
    <//></div>`;
}

/** Complete a field: if there is nothing to choose from, the field says so. A list starts with all permissions.
 * @param {any} field @param {string[]} permissions */
function toShow(field, permissions) {
  if (field.type === "array") return { ...field, value: permissions.join(" ") };
  if (!field.choices || field.choices.length) return field;
  return { ...field, help: [field.help, `there is no ${field.label} at the moment`].filter(Boolean).join("; ") };
}
