// One project, with the interventions that apply to each part of it.

import { ApiError, newKey, send } from "../api.js";
import { html } from "../lib.js";
import { Badge, Button, CopyButton, EndEarly, Facts, Intervene, Moment, Section, StateBadge, Table, act } from "../parts.js";
import { link } from "../store.js";
import { counted, spoken } from "../words.js";

/** @param {{of: any, more: () => void}} props */
export const ProjectDetail = ({ of, more }) => html`<div class="grid">
  <${About} of=${of} />
  <${Dns} of=${of} />
  <${Deployments} of=${of} more=${more} />
  <${Database} of=${of} name="dev" />
  <${Database} of=${of} name="prod" />
  <${Tickets} of=${of} />
  <${Users} of=${of} />
</div>`;

function About({ of }) {
  const project = of.alias;
  return html`<${Section} title="Project" actions=${html`<a class="button small" href=${link("requests", "", { project: of.id })}>Its requests</a>`}>
    <${Facts} of=${[
      ["Id", html`<span class="spread tight"><code>${of.id}</code><${CopyButton} text=${of.id} /></span>`],
      ["Organization", `${of.organization}, ${of.plan}, ${counted(of.credits, "credit")}`],
      ["Flag", html`<${Flag} of=${of} />`],
      ["Custom domain", html`<span class="spread">${of.custom_domain ?? html`<span class="quiet">none</span>`}${
        of.custom_domain
          ? html`<${Intervene} word="disconnect_domain" label="Disconnect" fixed=${{ project }} />`
          : html`<${Intervene} word="connect_domain" label="Connect" fixed=${{ project }} fields=${[{ name: "domain", label: "Domain", required: true, placeholder: "shop.example.com" }]} />`
      }</span>`],
      ["Mutation claim", html`<span class="spread">${of.claim ? html`<a href=${link("operations", of.claim)}>${of.claim_held ? "held by an intervention" : "held by an operation, until it ends"}</a>` : html`<span class="quiet">free</span>`}${
        of.claim
          ? of.claim_held && html`<${Intervene} word="release_claim" label="Release held claim" fixed=${{ project }} />`
          : html`<${Intervene} word="hold_claim" label="Hold" fixed=${{ project }} />`
      }</span>`],
      ["Source generation", of.source_generation],
    ]} />
  <//>`;
}

/** The flag, with a switch that calls call 1 as the project's owner, as a client would. */
function Flag({ of }) {
  const owner = of.users.find((row) => row.role === "owner")?.user;
  const { enabled, enabled_at } = of.flag;
  const turn = () => act(async () => {
    const path = `/v1/projects/${of.id}/powered-by-flag`;
    const { status, body } = await send({ method: "PUT", path, user: owner, key: newKey(), body: { enabled: !enabled } });
    if (status >= 400) throw new ApiError(status, body.title ?? status, body.detail);
  }, `The flag is ${enabled ? "hidden" : "shown"}.`);
  return html`<span class="spread">
    <span>${enabled ? html`shown since <${Moment} at=${enabled_at} />` : "hidden"}</span>
    ${owner && html`<button type="button" role="switch" class="switch" aria-checked=${enabled ? "true" : "false"} aria-label="Show the flag" onClick=${turn}></button>`}
  </span>`;
}

const DNS_STEPS = /** @type {Record<string, string[]>} */ ({
  not_authorized: ["pending"],
  pending: ["authorized", "revoked"],
  authorized: ["expired", "revoked"],
  expired: ["pending"],
  revoked: ["pending"],
});

function Dns({ of }) {
  const { dns } = of;
  const choices = DNS_STEPS[dns.status] ?? [];
  const canExpire = choices.includes("authorized");
  // The other steps do not change the zone.
  const canHaveZone = canExpire || choices.includes("pending");
  return html`<${Section} title="DNS authorization" actions=${html`<${Intervene} word="move_dns" label="Move DNS" fixed=${{ project: of.alias }} fields=${[
    { name: "to", label: "To", kind: "select", required: true, choices, value: choices[0] },
    ...(canHaveZone ? [{ name: "zone", label: "Zone", placeholder: dns.zone ?? "example.com" }] : []),
    ...(canExpire ? [{ name: "expires_in", label: "Expires in", placeholder: "30d" }] : []),
  ]} />`}>
    <${Facts} of=${[
      ["Status", html`<${StateBadge} state=${dns.status} />`],
      ["Zone", dns.zone ?? html`<span class="quiet">none</span>`],
      ["Scopes", dns.scopes.join(", ") || html`<span class="quiet">none</span>`],
      ["Expires", html`<${Moment} at=${dns.expires_at} />`],
    ]} />
  <//>`;
}

const Deployments = ({ of, more }) => html`<${Section} kind="wide" title=${`Deployments (${of.counts.deployments})`} actions=${html`<${Intervene}
    word="add_deployments" label="Add deployments" fixed=${{ project: of.alias }} fields=${[
      { name: "count", label: "How many", kind: "number", min: 1, max: 10000, value: 1, required: true },
      { name: "status", label: "Status", kind: "select", choices: ["ready", "failed", "cancelled"], value: "ready", required: true },
    ]} />
    ${of.claim && !of.claim_held && html`<${Intervene} word="fail_deployment" label="Fail the one in progress" danger fixed=${{ operation: of.claim }} fields=${[{ name: "message" }]} />`}`}>
  <${Table} caption="The newest deployments" none="No deployments yet." rows=${of.deployments} of=${(row) => row.id} columns=${DEPLOYMENT_COLUMNS} />
  ${of.deployments.length < of.counts.deployments && html`<p class="row"><span class="small quiet">The newest ${of.deployments.length} of ${of.counts.deployments}.</span>
    <${Button} small label="More deployments" onClick=${more}>More<//></p>`}
<//>`;

const DEPLOYMENT_COLUMNS = [
  { name: "Deployment", cell: (row) => html`<code>${row.id}</code>` },
  { name: "Status", cell: (row) => html`<${StateBadge} state=${row.status} />` },
  { name: "Commit", cell: (row) => html`<code class="whole">${row.commit_sha.slice(0, 10)}</code>` },
  { name: "Created", cell: (row) => html`<${Moment} at=${row.created_at} />` },
  { name: "Updated", cell: (row) => html`<${Moment} at=${row.updated_at} />` },
];

function Database({ of, name }) {
  const { data_mode, provider_failing, compute } = of.databases[name];
  const fixed = { project: of.alias, environment: name };
  const states = ["absent", "init", "ready", "suspended", "resizing", "failed"];
  return html`<${Section} title=${`Database, ${name}`} actions=${html`
    <${Intervene} word="set_database" label="Set" fixed=${fixed} fields=${[
      { name: "state", label: "State", kind: "select", choices: states },
      { name: "pending_state", label: "Pending state", kind: "select", choices: states.slice(1) },
      { name: "data_mode", label: "Data mode", kind: "select", choices: ["shared", "separate"] },
      { name: "suspend_timeout_seconds", label: "Suspend after (seconds)", kind: "number", min: -1, max: 604800 },
    ]} />
    ${provider_failing
      ? html`<${Intervene} word="recover_database_provider" label="Recover provider" fixed=${fixed} />`
      : html`<${Intervene} word="fail_database_provider" label="Fail provider" danger fixed=${fixed} />`}`}>
    <${Facts} of=${[
      ["Provider", provider_failing ? html`<${Badge} tone="bad">failing<//>` : "working"],
      ["Data mode", spoken(data_mode)],
      ["State", compute ? html`<${StateBadge} state=${compute.state} />${compute.pending_state && html` → <${StateBadge} state=${compute.pending_state} />`}` : html`<span class="quiet">no database</span>`],
      ...(compute ? [["Compute", `${compute.min_cu} to ${compute.max_cu} CU, ${compute.min_memory_gb} to ${compute.max_memory_gb} GB`], ["Region", compute.region]] : []),
    ]} />
  <//>`;
}

const Tickets = ({ of }) => html`<${Section} title="Dev access tickets">
  <${Table} caption="Tickets" rows=${of.tickets} of=${(row) => row.id} columns=${TICKET_COLUMNS}
    none=${html`No tickets yet. <a href=${link("try", "", { call: "create_dev_access_ticket", project_id: of.id })}>Create one</a>`} />
<//>`;

const TICKET_COLUMNS = [
  { name: "User", cell: (row) => row.user },
  { name: "State", cell: (row) => html`<${StateBadge} state=${row.state} />` },
  { name: "Expires", cell: (row) => html`<${Moment} at=${row.expires_at} />` },
  { name: "Change", cell: (row) => row.state === "unused" && html`<${EndEarly} of="ticket" id=${row.id} />` },
];

const Users = ({ of }) => html`<${Section} title="Users">
  <${Table} caption="Users and roles" none="No user has a role here." rows=${of.users} of=${(row) => row.user} columns=${[
    { name: "User", cell: (row) => row.user },
    { name: "Role", cell: (row) => (row.through === "organization" ? `${row.role}, as the organization's owner` : row.role) },
    { name: "Change", cell: (row) => row.through === "project" && html`<${Intervene} word="set_role" label="Set role" fixed=${{ project: of.alias, user: row.user }} fields=${[
      { name: "role", label: "Role", kind: "select", required: true, choices: ["owner", "maintainer", "reader", "none"], value: row.role },
    ]} />` },
  ]} />
<//>`;
