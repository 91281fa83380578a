// The problem catalogue: every code with its status, and what a client should do about it.
import { html, useState } from "../lib.js";
import { api } from "../api.js";
import { Badge, Loaded, Panel, Section, Table } from "../parts.js";
import { problemPage } from "../words.js";
import { Pick, prose, useFind } from "./find.js";

const ANY = { value: "", label: "any" };
const RETRIES = [ANY, { value: "yes", label: "retryable" }, { value: "no", label: "not retryable" }];

export default ({ query }) => html`<${Panel} title="Problems" lead="Every problem code, what it means, and what a client should do.">
  <${Loaded} from=${() => api.get("/contract/problems")} on=${[]}>
    ${(data) => html`<${Catalogue} items=${data.items} first=${query.text ?? ""} />`}
  <//>
<//>`;

function Catalogue({ items, first }) {
  const { field, matches } = useFind(items, (item) => `${item.code} ${item.title} ${item.meaning} ${item.when}`, first);
  const [status, setStatus] = useState("");
  const [retry, setRetry] = useState("");
  const rows = matches.filter((item) =>
    (!status || String(item.status) === status) && (!retry || item.retryable === (retry === "yes")));
  const statuses = [...new Set(items.map((item) => String(item.status)))].sort();
  return html`<${Section} title="Catalogue">
    <search class="row filters">
      ${field}
      <${Pick} label="Status" name="status" value=${status} set=${setStatus}
        choices=${[ANY, ...statuses]} />
      <${Pick} label="Retry" name="retry" value=${retry} set=${setRetry} choices=${RETRIES} />
      <p class="quiet">${rows.length} of ${items.length}</p>
    </search>
    ${rows.length
      ? html`<${Table} caption="Problem codes" rows=${rows} of=${(item) => item.code} columns=${COLUMNS} />`
      : html`<p class="quiet">No code matches.</p>`}
  <//>`;
}

const COLUMNS = [
  { name: "Code", cell: (item) => html`<a href=${problemPage(item.code)}><code>${item.code}</code></a>` },
  { name: "Status", number: true, cell: (item) => item.status },
  { name: "Retry", cell: (item) => item.retryable ? html`<${Badge} tone="busy">retryable<//>` : html`<${Badge} tone="calm">no<//>` },
  { name: "What it means", wide: true, cell: (item) => html`${prose(item.meaning)} <span class="quiet">${prose(item.suggested_action)}</span>` },
];
