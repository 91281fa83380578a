// Scenarios: the library, and the user's own scenario. A scenario can be loaded into this world, and its story can be run.
import { html, useState } from "../lib.js";
import { api, inWorld } from "../api.js";
import { go, link, said, world } from "../store.js";
import { act, ask, Button, Code, Loaded, Panel, Section, surely } from "../parts.js";
import { focused, Picks } from "./find.js";
import { draft, focusField, OwnScenario, Story, verdict } from "./own-scenario.js";

export default ({ arg }) => html`<${Panel} title="Scenarios" lead="A world with failures, and a story that tests them. A story runs in its own world.">
  <${Loaded} from=${() => api.get("/scenarios")} on=${[]}>
    ${(d) => html`<div class="beside">
      <${Section} title="Library">
        <ul class="pick"><li><a href=${link("scenarios")} aria-current=${arg ? undefined : "true"} onClick=${focusField}>
          <b>Your own</b> <span class="quiet small">Paste a scenario, check it, load it.</span></a></li></ul>
        <${Picks} panel="scenarios" items=${d.items.map(asPick)} chosen=${arg} /><//>
      ${arg ? html`<${Chosen} key=${arg} name=${arg} />` : html`<${OwnScenario} />`}
    </div>`}<//>
<//>`;

/** Return a list entry with the scenario's name and the first sentence of its description. Marks scenarios that are only a story. */
const asPick = ({ name, kind, description }) => (
  { id: name, name, about: (kind === "story" ? "Only a story. " : "") + description.split(/(?<=\.)\s/)[0] });

function Chosen({ name }) {
  const [report, setReport] = useState(null);
  const run = () => act(async () => {
    setReport(null);
    const storyReport = await api.post("/scenarios/run", { name });
    setReport(storyReport);
    said.value = verdict(storyReport);
  });
  const load = () => {
    const text = `The content of world ${world.value} is replaced with the world of ${name}.`;
    return surely({ title: "Load this scenario", text, yes: "Load", danger: true },
      () => inWorld.post("/scenario", { name, replace: true }),
      (/** @type {any} */ { notices }) => [`World ${world.value} now has the world of ${name}.`, ...notices].join(" "));
  };
  const copy = async (/** @type {string} */ text) => {
    const warning = "This replaces the text in the editor.";
    if (draft.peek().trim() && draft.peek() !== text && !await ask({ title: "Edit a copy", text: warning, yes: "Replace" })) return;
    draft.value = text;
    focusField();
    go("scenarios");
  };
  return html`<div ref=${focused} tabIndex="-1" role="group" aria-label=${name} class="stack">
    <${Loaded} from=${() => api.get(`/scenarios/${encodeURIComponent(name)}`)} on=${[]}>${(scenario) => html`
      <${Section} title=${scenario.name} lead=${scenario.description}>
        <div class="row">
          <${Button} kind="primary" onClick=${run}>Run its story<//>
          <${Button} onClick=${load}>Load into this world<//>
          <${Button} kind="quiet" onClick=${() => copy(scenario.text)}>Edit a copy<//>
        </div>
        ${report && html`<${Story} report=${report} />`}
        <${Code} label=${`${scenario.name}.yaml`} text=${scenario.text} />
      <//>`}<//>
  </div>`;
}
