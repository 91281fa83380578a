// History: the world's latest commits, which you can rewind to or fork at, and its snapshots.
import { html, useState } from "../lib.js";
import { inWorld } from "../api.js";
import { callName } from "../calls.js";
import { useResource } from "../resource.js";
import { useStill } from "../still.js";
import { world } from "../store.js";
import { spoken } from "../words.js";
import { act, Button, Moment, Panel, Section, Shown, surely, Table } from "../parts.js";
import { removeRow } from "./find.js";
import { SaveScenario } from "./save-scenario.js";

const PAGE = 100;
/** @type {any[]} */
const NONE = [];

export default () => html`<${Panel} title="History" lead="Every accepted change is a commit. Rewind to any stored commit, or fork a new world from it."
    actions=${html`<${SaveScenario} />`}>
  <${Snapshots} />
  <${Commits} />
<//>`;

function Commits() {
  const [limit, setLimit] = useState(PAGE);
  const history = useResource(() => inWorld.get(`/history?limit=${limit}`), { on: ["commit", "world"], deps: [limit] });
  const { items = NONE, first = 0 } = history.data ?? {};
  const { rows, fresh, show, hold } = useStill(items, (item) => item.commit);
  const newest = items[0]?.commit;
  const older = items.length >= limit && items.at(-1).commit > first;
  return html`<${Section} title="Commits" actions=${fresh > 0 && html`<${Button} small onClick=${show}>${fresh} new<//>`}>
    <${Shown} of=${history}>${() => html`<div ...${hold}>
      <${Table} caption="Commits, newest first" rows=${rows} of=${(item) => item.commit} columns=${[
        { name: "Commit", number: true, cell: (item) => item.commit },
        { name: "What", wide: true, cell: (item) => html`${spoken(callName(item.title))}${item.summary && html`<span class="quiet">: ${item.summary}</span>`}` },
        { name: "World time", cell: (item) => html`<${Moment} at=${item.at} />` },
        { name: "Go there", cell: (item) => html`<${Ways} item=${item} last=${item.commit === newest} reload=${history.reload} />` },
      ]} /></div>
      ${older && html`<div class="row"><${Button} kind="quiet" onClick=${() => setLimit(limit + PAGE)}>Show ${PAGE} more<//></div>`}`}<//>
  <//>`;
}

function Ways({ item, last, reload }) {
  const rewind = () => {
    const text = `The state of ${world.value} is rewound to commit ${item.commit}. Its clock and faults are rewound too. The request log does not change.`;
    return surely({ title: `Rewind to ${item.commit}`, text, yes: "Rewind", danger: true },
      () => inWorld.post("/rewind", { commit: item.commit }), `The world was rewound to commit ${item.commit}.`, reload);
  };
  return html`<span class="row">
    ${last
      ? html`<span class="small quiet now">current</span>`
      : html`<${Button} small kind="quiet" label=${`Rewind to ${item.commit}`} onClick=${rewind}>Rewind<//>`}
    <${Button} small kind="quiet" label=${`Fork at ${item.commit}`} onClick=${() => fork(item.commit)}>Fork<//>
  </span>`;
}

const fork = (commit) => act(
  () => inWorld.post("/fork", { commit }),
  (created) => `World ${created.name} starts at commit ${commit}. Choose it above.`,
);

function Snapshots() {
  const snapshots = useResource(() => inWorld.get("/snapshots"), { on: ["world"] });
  const take = () => act(() => inWorld.post("/snapshots"), (created) => `${created.id} is taken at commit ${created.commit}.`, snapshots.reload);
  const restore = (snapshot) => {
    const text = `The state of ${world.value} is restored to commit ${snapshot.commit}: state, clock, faults and assumptions.`;
    return surely({ title: `Restore ${snapshot.id}`, text, yes: "Restore", danger: true },
      () => inWorld.post(`/snapshots/${snapshot.id}/restore`), `${snapshot.id} is restored.`);
  };
  const drop = (event, snapshot) => removeRow(event, `/snapshots/${snapshot.id}`, `${snapshot.id} is deleted.`, snapshots.reload);
  return html`<${Section} title="Snapshots" lead="Save the current state, and restore it as often as you like."
      actions=${html`<${Button} onClick=${take}>Take a snapshot<//>`}>
    <${Shown} of=${snapshots} empty=${(d) => !d.items.length && "No snapshots yet."}>
      ${(d) => html`<${Table} caption="Saved snapshots" rows=${d.items} of=${(snapshot) => snapshot.id} columns=${[
        { name: "Snapshot", cell: (snapshot) => snapshot.id },
        { name: "Commit", number: true, cell: (snapshot) => snapshot.commit },
        { name: "World time", wide: true, cell: (snapshot) => html`<${Moment} at=${snapshot.at} />` },
        { name: "Use", cell: (snapshot) => html`<span class="row">
          <${Button} small kind="quiet" label=${`Restore ${snapshot.id}`} onClick=${() => restore(snapshot)}>Restore<//>
          <${Button} small kind="quiet" label=${`Delete ${snapshot.id}`} onClick=${(event) => drop(event, snapshot)}>Delete<//></span>` },
      ]} />`}<//>
  <//>`;
}
