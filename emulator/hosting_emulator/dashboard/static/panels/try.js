// The API console: sends any call of the contract as any user, and links to the explanation of its response.

import { newKey, inWorld, send } from "../api.js";
import { calls } from "../calls.js";
import { html, useEffect, useRef, useState } from "../lib.js";
import { Badge, Empty, Form, Json, Loading, Lost, Panel, Section } from "../parts.js";
import { link, summary, unfinished } from "../store.js";
import { toneOfStatus } from "../words.js";
import { Pick } from "./find.js";

/** @typedef {import("../parts/form.js").Field} Field */

export default function Try({ query }) {
  const [chosen, setChosen] = useState(query.call);
  const call = calls.value.find(({ id }) => id === chosen) ?? calls.value.find(({ response }) => response === "Operation");
  const [response, setResponse] = useState(null);
  const [named, setNamed] = useState(/** @type {Record<string, string>} */ ({ ...query }));
  const worldSummary = summary.value;
  const name = (/** @type {string} */ field) => (/** @type {string} */ value) => setNamed((old) => ({ ...old, [field]: value }));
  if (!call) return html`<${Panel} title="API console"><${Loading} /><//>`;
  const fields = worldSummary && fieldsOf(call, worldSummary, named, name);
  const onSubmit = async (values) => setResponse(await tryIt(call, values));
  return html`<${Panel} title="API console" lead="Sends a real request to this world as the chosen user.">
    <div class="grid">
      <${Section} title="Request">
        <${Pick} label="Call" name="call" value=${call.id} choices=${calls.value.map(({ id, says }) => ({ value: id, label: says }))}
          set=${(id) => { setChosen(id); setResponse(null); }} />
        <p class="mono quiet">${call.method} ${filled(call.path, fields ?? [], named)}</p>
        ${worldSummary && html`<${Form} key=${call.id} label="Request" fields=${fields} values=${query} submit="Send" onSubmit=${onSubmit} />`}
      <//>
      <${Section} title="Response">
        ${response ? html`<${TriedResponse} of=${response} />` : html`<${Empty}>No request sent yet.<//>`}
      <//>
    </div>
  <//>`;
}

/** Return a path with its parameters replaced by the values in the form. @param {string} path @param {Field[]} fields @param {Record<string, string>} named */
const filled = (path, fields, named) =>
  path.replace(/\{(\w+)\}/g, (whole, name) => (named[name] ?? fields.find((field) => field.name === name)?.value) || whole);

/**
 * @param {import("../calls.js").Call} call @param {any} worldSummary
 * @param {Record<string, string>} named the values that the user has chosen for the parameters of the path
 * @param {(field: string) => (value: string) => void} name
 * @returns {Field[]}
 */
function fieldsOf(call, worldSummary, named, name) {
  const choice = (row) => ({ value: row.id, label: row.alias });
  const open = unfinished.peek().map((row) => ({ value: row.id, label: `${row.kind} of ${row.project}` }));
  const project = worldSummary.projects.find((row) => row.id === named.project_id) ?? worldSummary.projects[0];
  /** @type {(Field & {choices: any[]})[]} */
  const places = [
    { name: "project_id", label: "Project", kind: "select", choices: worldSummary.projects.map(choice) },
    { name: "organization_id", label: "Organization", kind: "select", choices: worldSummary.organizations.map(choice) },
    { name: "operation_id", label: "Operation", choices: open },
  ];
  /** @type {Field[]} */
  const fields = [
    { name: "user", label: "As", kind: "select", required: true, choices: worldSummary.users.map((row) => row.alias), value: worldSummary.users.some((row) => row.alias === "owner") ? "owner" : undefined },
    ...places.filter((place) => call.path.includes(`{${place.name}}`))
      .map((place) => ({ ...place, required: true, value: place.choices[0]?.value, on: name(place.name) })),
  ];
  if (call.query) fields.push({ name: "query", label: "Query", value: call.query });
  if (call.body) fields.push({ name: "body", label: "Body", kind: "json", required: true, value: bodyOf(call, project) });
  if (call.key) fields.push({ name: "key", label: "Idempotency-Key", unset: "generated" });
  return fields;
}

/** Return a body that the emulator accepts in the current state. @param {import("../calls.js").Call} call */
const bodyOf = (call, project) =>
  "expected_source_generation" in call.body ? { expected_source_generation: project?.source_generation ?? 0 } : call.body;

async function tryIt(call, values) {
  const path = call.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]));
  const key = call.key ? (values.key ?? newKey()) : undefined;
  const before = await inWorld.get("/requests?limit=1&trail=false");
  const sending = send({ ...values, method: call.method, path: values.query ? `${path}?${values.query}` : path, key });
  /** @type {any} */
  const response = await sending.catch((lost) => ({ lost }));
  // A browser automatically resends a request if the connection breaks, and the log contains every attempt.
  const { items } = await inWorld.get(`/requests?after=${before.total}&call=${call.id}&trail=false`);
  const sent = items.filter((item) => (item.idempotency_key ?? undefined) === key).reverse();
  if (response.lost && !sent.length) throw response.lost;
  return { ...response, key, sent };
}

/** Return the URL at which clients that cannot reach the dev origin redeem a ticket. @param {string} redeemUrl */
function plainUrl(redeemUrl) {
  const { pathname, search } = new URL(redeemUrl);
  return `${summary.peek()?.base_url}${pathname}${search}`;
}

function TriedResponse({ of }) {
  const heading = useRef(null);
  useEffect(() => heading.current?.focus(), [of]);
  const operation = of.body?.id && of.body?.state ? of.body.id : null;
  return html`<div class="stack">
    <p ref=${heading} tabindex="-1" class="row">
      ${of.lost ? html`<${Badge} tone="bad">No response<//>` : html`<${Badge} tone=${toneOfStatus(of.status)}>Status ${of.status}<//>`}
      ${of.sent.map((item) => html`<a key=${item.n} href=${link("requests", item.n)}>Request ${item.n}: why</a> <${Lost} of=${item} />`)}
    </p>
    ${of.sent.length > 1 && html`<p>The browser sent it ${of.sent.length} times: browsers retry when a connection breaks.</p>`}
    ${of.lost && html`<p>${of.lost.message}</p>`}
    ${operation && html`<p><a class="button" href=${link("operations", operation)}>Follow the operation</a></p>`}
    ${of.body?.redeem_url && html`<p>Over plain HTTP, for clients that cannot reach the dev origin: <code class="mono">${plainUrl(of.body.redeem_url)}</code></p>`}
    ${of.key && html`<p class="small quiet">Idempotency-Key <code>${of.key}</code></p>`}
    ${!of.lost && html`<${Json} label="Response's body" value=${of.body} />`}
  </div>`;
}
