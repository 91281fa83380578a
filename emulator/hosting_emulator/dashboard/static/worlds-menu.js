// The menu for worlds in the bar. It can create a world, and fork, reset, export, import or delete the current world.

import { api, inWorld } from "./api.js";
import { html, useRef } from "./lib.js";
import { Button, Form, MenuButton, act, surely, toast } from "./parts.js";
import { useResource } from "./resource.js";
import { DEFAULT_WORLD, go, world } from "./store.js";

const CLOCKS = [
  { value: "real", label: "real: runs at normal speed" },
  { value: "frozen", label: "frozen: stops until you move it" },
  { value: "skip", label: "skip: jumps to what the client waits for" },
];

const enter = (/** @type {{name: string}} */ { name }) => go("requests", "", {}, { world: name });

export const WorldsMenu = () => html`<${MenuButton} small label="Worlds">${(/** @type {() => void} */ close) => html`<${Menu} close=${close} />`}<//>`;

/** @param {{close: () => void}} props */
function Menu({ close }) {
  const name = world.value;
  return html`<div class="stack worlds">
    <section aria-labelledby="this-world" class="stack tight">
      <h2 id="this-world">World ${name}</h2>
      <${ThisWorld} name=${name} close=${close} />
    </section>
    <section aria-labelledby="new-world" class="stack tight">
      <h2 id="new-world">New world</h2>
      <${NewWorld} close=${close} />
    </section>
  </div>`;
}

/** @param {{name: string, close: () => void}} props */
function ThisWorld({ name, close }) {
  const file = useRef(null);
  const { data: summary } = useResource(() => inWorld.get(""), { on: [] });
  const sure = (/** @type {import("./parts/dialog.js").Question} */ question, /** @type {() => Promise<any>} */ work, /** @type {string} */ said) => {
    close();
    return surely({ ...question, danger: true }, work, said);
  };
  const fork = async () => {
    const created = await act(() => inWorld.post("/fork"), ({ name: copy }) => `World ${copy} is a copy of ${name}.`);
    close();
    if (created) enter(created);
  };
  const start = summary?.scenario ?? "its seed";
  const reset = () => sure({ title: `Reset ${name}`, text: `The world starts over from ${start}. Its current state and log are lost.`, yes: "Reset" },
    () => inWorld.post("/reset"), `World ${name} was reset.`);
  const resetToDefault = () => sure({ title: `Reset ${name} to the default world`, text: "The scenario, the current state and the log are lost.", yes: "Reset" },
    () => inWorld.post("/reset", { default: true }), `World ${name} is the default world again.`);
  const remove = () => sure({ title: `Delete ${name}`, text: "The world, its log and its saved state are deleted.", yes: "Delete" }, async () => {
    await inWorld.delete("");
    enter({ name: DEFAULT_WORLD });
  }, `World ${name} was deleted.`);
  const take = async (event) => {
    const [chosen] = event.currentTarget.files;
    if (!chosen) return;
    const text = `The content of world ${name} is replaced with the state in ${chosen.name}.`;
    await sure({ title: "Import a state", text, yes: "Import" }, async () => inWorld.put("/state", JSON.parse(await chosen.text())), `World ${name} now has the state of ${chosen.name}.`);
  };
  // The button that resets to the default world appears only when the summary has arrived. It comes last, so that it
  // does not move another button away from the pointer.
  return html`<div class="row">
    <${Button} small onClick=${fork}>Fork<//>
    <${Button} small onClick=${reset}>Reset<//>
    <a class="button small" href=${`/_emulator/worlds/${encodeURIComponent(name)}/state`} download=${`${name}.json`}>Export</a>
    <${Button} small onClick=${() => file.current.click()}>Import<//>
    <input type="file" hidden ref=${file} accept=".json,application/json" onChange=${take} />
    ${name !== DEFAULT_WORLD && html`<${Button} small kind="danger" onClick=${remove}>Delete<//>`}
    ${summary?.scenario && html`<${Button} small onClick=${resetToDefault}>Reset to the default world<//>`}
  </div>`;
}

/** @param {{close: () => void}} props */
function NewWorld({ close }) {
  const library = useResource(() => api.get("/scenarios"), { on: [] });
  /** @type {import("./parts/form.js").Field[]} */
  const fields = [
    { name: "name", label: "Name", unset: "generated", placeholder: "a-z, 0-9 and -" },
    { name: "clock", label: "Clock", kind: "select", choices: CLOCKS },
    { name: "scenario", label: "Scenario", kind: "select", choices: (library.data?.items ?? []).map((one) => one.name) },
  ];
  const create = async ({ name, clock, scenario }) => {
    const created = await api.post("/worlds", { name, clock: clock && { mode: clock }, scenario: scenario && { name: scenario } });
    toast(`World ${created.name} was created.`, "good");
    close();
    enter(created);
  };
  return html`<${Form} label="New world" fields=${fields} submit="Create" onSubmit=${create} />`;
}
