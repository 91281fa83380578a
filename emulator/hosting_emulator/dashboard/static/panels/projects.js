// Projects: each with its flag, deployments, DNS, databases, tickets and users. Also lists the API keys.

import { inWorld } from "../api.js";
import { html, useState } from "../lib.js";
import { Badge, EndEarly, Loaded, Moment, Panel, Section, Shown, StateBadge, Table } from "../parts.js";
import { useResource } from "../resource.js";
import { go, link } from "../store.js";
import { ProjectDetail } from "./project-detail.js";

/** The maximum number of deployments that the emulator returns for a project. */
const MOST = 1000;

export default function Projects({ arg }) {
  const [most, setMost] = useState(10);
  const projects = useResource(() => inWorld.get(`/projects?deployments=${most}`), { deps: [most] });
  if (arg) {
    return html`<${Panel} title=${`Project ${arg}`} actions=${html`<a class="button" data-closes title="All projects (Escape)" href=${link("projects")}>All projects</a>`}>
      <${Shown} of=${projects} empty=${(projectList) => !pick(projectList, arg) && html`No project is named ${arg}. <a href=${link("projects")}>All projects</a>`}>
        ${(projectList) => html`<${ProjectDetail} of=${pick(projectList, arg)} more=${() => setMost(Math.min(MOST, most * 5))} />`}
      <//>
    <//>`;
  }
  return html`<${Panel} title="Projects" lead="What is in the world. Each intervention is next to what it changes.">
    <${Shown} of=${projects}>
      ${(projectList) => html`<${Table} caption="Projects" none="This world has no project." rows=${projectList.items} of=${(row) => row.id}
        open=${(row) => go("projects", row.alias)} columns=${COLUMNS} />`}
    <//>
    <${Keys} />
  <//>`;
}

const pick = (projectList, name) => projectList.items.find((row) => row.alias === name || row.id === name);

const COLUMNS = [
  { name: "Project", cell: (row) => row.alias },
  { name: "Organization", cell: (row) => row.organization },
  { name: "Flag", cell: (row) => html`<${Badge} tone=${row.flag.enabled ? "good" : "calm"}>${row.flag.enabled ? "shown" : "hidden"}<//>` },
  { name: "Latest deployment", cell: (row) => (row.deployments[0] ? html`<${StateBadge} state=${row.deployments[0].status} />` : "none") },
  { name: "DNS", cell: (row) => html`<${StateBadge} state=${row.dns.status} />` },
  { name: "In progress", cell: (row) => (row.claim ? html`<a href=${link("operations", row.claim)}>an operation</a>` : html`<span class="quiet">nothing</span>`) },
  { name: "Deployments", number: true, cell: (row) => row.counts.deployments },
];

const Keys = () => html`<${Section} title="API keys" lead="The values of keys are not stored. Each value was shown when its key was created, or is in the world file.">
  <${Loaded} from=${() => inWorld.get("/keys")}>
    ${(keyList) => html`<${Table} caption="API keys, newest first" none="No API keys yet." rows=${keyList.items} of=${(row) => row.id} columns=${KEY_COLUMNS} />`}
  <//>
<//>`;

const keyState = (row) => (row.revoked ? "revoked" : row.expired ? "expired" : "active");

const KEY_COLUMNS = [
  { name: "Name", cell: (row) => row.name },
  { name: "User", cell: (row) => `${row.user}, ${row.organization}` },
  { name: "Value", cell: (row) => html`<code>${row.obfuscated_value}</code>` },
  { name: "State", cell: (row) => html`<${StateBadge} state=${keyState(row)} />` },
  { name: "Expires", cell: (row) => html`<${Moment} at=${row.expires_at} />` },
  { name: "Last used", cell: (row) => html`<${Moment} at=${row.last_used_at} />` },
  { name: "Change", cell: (row) => keyState(row) === "active" && html`<${EndEarly} of="key" id=${row.id} />` },
];
