// Scenarios: the library, each with its text; load one into this world, or run its story.
import { html, useEffect, useRef, useState } from "../lib.js";
import { api, inWorld } from "../api.js";
import { useResource } from "../resource.js";
import { said, world } from "../store.js";
import { act, ask, Badge, Button, Code, Empty, Panel, Section, Shown } from "../parts.js";
import { Picks } from "./find.js";

/** @param {{arg?: string}} props */
export default function Scenarios({ arg }) {
  const library = useResource(() => api.get("/scenarios"), { on: [] });
  return html`<${Panel} title="Scenarios" lead="A world with its failures, and a story that proves them. A story runs in a world of its own.">
    <${Shown} of=${library} empty=${(/** @type {any} */ d) => !d.items.length && "The library is empty."}>
      ${(/** @type {any} */ d) => html`<div class="beside">
        <${Section} title="Library">
          <${Picks} panel="scenarios" items=${d.items.map(asPick)} chosen=${arg} /><//>
        ${arg ? html`<${Chosen} key=${arg} name=${arg} />`
          : html`<${Section} title="Details"><${Empty}>Choose a scenario.<//><//>`}
      </div>`}<//>
  <//>`;
}

/** By its name and the first sentence of what it says. @param {any} one */
const asPick = ({ name, description }) => ({ id: name, name, about: description.split(/(?<=\.)\s/)[0] });

/** @param {{name: string}} props */
function Chosen({ name }) {
  const scenario = useResource(() => api.get(`/scenarios/${encodeURIComponent(name)}`), { on: [] });
  const [told, setTold] = useState(/** @type {any} */ (null));
  const place = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => place.current?.focus(), []);
  const run = () => act(async () => {
    setTold(null);
    const found = await api.post("/scenarios/run", { name });
    setTold(found);
    said.value = found.passed ? "The story passed." : "The story failed.";
  });
  const load = async () => {
    const text = `World ${world.value} becomes that of ${name}: what it holds now is replaced.`;
    if (!await ask({ title: "Load this scenario", text, yes: "Load", danger: true })) return;
    await act(() => inWorld.post("/scenario", { name }), `World ${world.value} is that of ${name} now.`);
  };
  return html`<div ref=${place} tabIndex="-1" role="group" aria-label=${name} class="stack">
    <${Shown} of=${scenario}>${(/** @type {any} */ one) => html`
      <${Section} title=${one.name} lead=${one.description}>
        <div class="row">
          <${Button} kind="primary" onClick=${run}>Run its story<//>
          <${Button} onClick=${load}>Load into this world<//>
        </div>
        ${told && html`<${Story} told=${told} />`}
        <${Code} label=${`${one.name}.yaml`} text=${one.text} />
      <//>`}<//>
  </div>`;
}

/** @param {{told: any}} props */
function Story({ told }) {
  return html`<div class="story">
    <p><${Badge} tone=${told.passed ? "good" : "bad"}>${told.passed ? "passed" : "failed"}<//>${" "}
      ${told.steps.length} steps, in a world of its own that is gone again.</p>
    <ol class="steps">${told.steps.map((/** @type {any} */ step) => html`<li key=${step.n} class=${step.passed ? "" : "bad"}>
      <span><b>${step.passed ? "✓" : "✗"}<span class="visually-hidden">${step.passed ? " passed" : " failed"}</span></b> ${step.title}</span>
      <span class="quiet">${step.said}</span>
      ${step.differences.length > 0 && html`<ul>${step.differences.map((/** @type {any} */ one) => html`<li key=${textOf(one)}>${textOf(one)}</li>`)}</ul>`}
    </li>`)}</ol>
  </div>`;
}

/** @param {{at: string, expected: any, found: any}} one */
const textOf = ({ at, expected, found }) => `${at}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`;
