// Outcomes: how the next operations go, told beforehand.
import { html } from "../lib.js";
import { inWorld } from "../api.js";
import { useResource } from "../resource.js";
import { Shown } from "../parts.js";
import { ArmedPanel } from "./faults.js";

export default function Outcomes() {
  const found = useResource(() => inWorld.get("/outcomes"), { on: ["outcome", "world"] });
  const of = {
    noun: "outcome", title: "Outcomes", add: "Tell an outcome", any: "any operation", reload: found.reload,
    lead: "How the next operations go, told beforehand: each is for one operation unless it says more.",
    none: "Nothing is told beforehand: each operation goes as its profile says.",
  };
  return html`<${Shown} of=${found}>${(data) => html`<${ArmedPanel} of=${of} rows=${data.items} />`}<//>`;
}
