// Connect: the addresses of the emulator, a token for any user, a first request, and the state of the world.

import { inWorld, tokenOf } from "../api.js";
import { calls, curl } from "../calls.js";
import { html, useState } from "../lib.js";
import { Address, Badge, Code, CopyButton, Empty, Facts, Loading, Panel, Section, StateBadge } from "../parts.js";
import { clock, commandLine, info, link, live, summary, unfinished } from "../store.js";
import { counted, moment, sinceNow, spoken } from "../words.js";

export default function Connect() {
  const worldSummary = summary.value;
  if (!worldSummary) return html`<${Panel} title="Connect"><${Loading} /><//>`;
  return html`<${Panel} title="Connect" lead="What a client needs: the base URL, a token, a first request.">
    <div class="grid">
      <${Where} of=${worldSummary} />
      <${FirstRequest} of=${worldSummary} />
      <${Users} of=${worldSummary} />
      <${Now} />
    </div>
  <//>`;
}

const Where = ({ of }) => html`<${Section} kind="wide" title="Addresses">
  <${Facts} of=${[
    ["Base URL", html`<${Address} text=${of.base_url} />`],
    ["Control API", html`<${Address} text=${of.control_url} />`],
    ["Sign-in", html`<${Address} text=${of.issuer} />`],
    ["OpenAPI", html`<a href=${`${of.control_url}/openapi.json`}>openapi.json</a> · <a href="/_emulator/docs">documentation</a>`],
    ["State", of.ephemeral ? "in memory: gone when the emulator stops" : html`<code>${info.value?.data_dir}</code>`],
    ["Seed", html`<code>${of.seed}</code>`],
  ]} />
<//>`;

function Now() {
  const time = clock.value;
  const changed = Object.keys(summary.value.assumptions);
  return html`<${Section} title="Now">
    <${Facts} of=${[
      ["Clock", html`<a href=${link("clock")}>${time.mode === "scaled" ? `scaled, ${time.rate}×` : time.mode}</a>`],
      ["Next event", time.next_due_at ? html`${time.next_event ? html`${time.next_event}<br />` : ""}<span class="quiet">${moment(time.next_due_at)}, ${sinceNow(time.next_due_at)}</span>` : "none"],
      ["In progress", html`<${Names} none="no operation" panel="operations" rows=${unfinished.value}
        text=${(row) => `${spoken(row.kind)} of ${row.project}`}
        badge=${(row) => html`<${StateBadge} state=${row.stuck ? "stuck" : row.state} />`} />`],
      ["Armed faults", html`<${Names} none="no fault" panel="faults" rows=${live.value} text=${(row) => row.id}
        badge=${(row) => html`<${Badge} tone="warn">${counted(row.hits ?? 0, "hit")}<//>`} />`],
      ["Assumptions", changed.length ? html`<a href=${link("assumptions")}>${changed.length} changed</a>` : "all default"],
    ]} />
  <//>`;
}

function Names({ none, panel, rows, text, badge }) {
  if (!rows.length) return none;
  return html`<ul class="names">
    ${rows.slice(0, 5).map((row) => html`<li key=${row.id}><a href=${link(panel, row.id)}>${text(row)}</a> ${badge(row)}</li>`)}
    ${rows.length > 5 && html`<li><a href=${link(panel)}>and ${rows.length - 5} more</a></li>`}
  </ul>`;
}

function Users({ of }) {
  if (!of.users.length) return html`<${Section} title="Tokens"><${Empty}>This world has no user.<//><//>`;
  return html`<${Section} title="Tokens" lead="A bearer token for each user of this world. Users have no passwords.">
    <ul class="users">
      ${of.users.map((user) => html`<li key=${user.alias} class="spread">
        <span><b>${user.alias}</b> <span class="quiet">${user.name}</span></span>
        <span class="row">
          <${CopyButton} label=${html`Copy token<span class="visually-hidden"> of ${user.alias}</span>`} text=${() => tokenOf(user.alias)} />
          <${CopyButton} label=${html`Copy curl<span class="visually-hidden"> as ${user.alias}</span>`} text=${async () => command(of, await tokenOf(user.alias))} />
        </span>
      </li>`)}
    </ul>
  <//>`;
}

function command(of, token) {
  const call = calls.value.find(({ id }) => id === "list_deployments");
  const project = of.projects[0];
  if (!call || !project) return "";
  const path = call.path.replace("{project_id}", project.id);
  return curl({ method: "GET", url: `${of.base_url}${path}?${call.query}`, token });
}

function FirstRequest({ of }) {
  const text = command(of);
  const [key, setKey] = useState(null);
  if (!text) return null;
  const user = of.users.find((row) => row.alias === "owner") ?? of.users[0];
  const make = async () => setKey(await inWorld.post("/api-keys", { user: user.alias }));
  return html`<${Section} title="A first request" lead="Paste it into a shell. The copied text contains a new token.">
    <${Code} shell label="Command of a first request" text=${text} copy=${async () => command(of, await tokenOf(user.alias))} />
    <p class="small quiet">In a shell, <code>eval "$(${commandLine("env")})"</code> sets the same values as environment variables.</p>
    ${key
      ? html`<p>API key of ${user.alias}, shown this once: <code>${key.value}</code> <${CopyButton} text=${key.value} /></p>`
      : html`<button type="button" class="button small" onClick=${make}>Create an API key</button>`}
  <//>`;
}
