// Operations: their states over world time, and one operation in detail.

import { inWorld } from "../api.js";
import { html, useState } from "../lib.js";
import { Button, Loaded, Panel, Section, StateBadge, Table, Moment } from "../parts.js";
import { go, link, unfinished } from "../store.js";
import { counted, span, spoken } from "../words.js";
import { OperationDetail } from "./operation-detail.js";
import { Timeline } from "./timeline.js";

const PAGE = 30;
/** The maximum number of operations that the emulator returns at once. */
const MOST = 1000;

export default function Operations({ arg }) {
  const [limit, setLimit] = useState(PAGE);
  const open = unfinished.value.length;
  return html`<${Panel} title="Operations"
    lead=${open ? `${counted(open, "operation")} in progress.` : "No operation is in progress."}
    actions=${html`<a class="button primary" href=${link("try", "", { call: "initialize_managed_source" })}>Start an operation</a>`}>
    ${arg && html`<${OperationDetail} key=${arg} id=${arg} />`}
    <${Loaded} from=${() => inWorld.get(`/timeline?limit=${limit}`)} on=${["commit", "world", "clock"]} deps=${[limit]}
        empty=${(data) => !data.items.length && html`No operation yet. <a href=${link("try")}>Start one</a> by initializing managed source or applying domains.`}>
      ${(data) => html`<${Section} title="Over world time" lead="Within the stored history.">
          <${Timeline} items=${data.items} now=${data.now} current=${arg} />
        <//>
        <${Table} caption="Operations, newest first" rows=${data.items} of=${(row) => row.id} current=${arg}
          open=${(row) => go("operations", row.id)} columns=${COLUMNS} />
        ${data.items.length < data.total && html`<p class="row"><span class="small quiet">The newest ${data.items.length} of ${data.total.toLocaleString("en")}.</span>
          ${limit < MOST && html`<${Button} small label="More operations" onClick=${() => setLimit(Math.min(MOST, limit * 2))}>More<//>`}</p>`}`}
    <//>
  <//>`;
}

const COLUMNS = [
  { name: "Operation", cell: (row) => spoken(row.kind) },
  { name: "Project", cell: (row) => html`<a href=${link("projects", row.project)}>${row.project}</a>` },
  { name: "State", cell: (row) => html`<${StateBadge} state=${row.spans.at(-1)?.stuck ? "stuck" : row.state} />` },
  { name: "Began", cell: (row) => html`<${Moment} at=${row.spans[0]?.from} />` },
  { name: "In this state since", cell: (row) => html`<${Moment} at=${row.spans.at(-1)?.to ?? row.spans.at(-1)?.from} />` },
  {
    name: "Took",
    number: true,
    cell: (row) => (row.spans.at(-1)?.to ? span(Date.parse(row.spans.at(-1).to) - Date.parse(row.spans[0].from)) : html`<span class="quiet">in progress</span>`),
  },
  { name: "Id", cell: (row) => html`<code>${row.id}</code>` },
];
