// Outcomes: how the next operations end.
import { html } from "../lib.js";
import { inWorld } from "../api.js";
import { useResource } from "../resource.js";
import { Shown } from "../parts.js";
import { ArmedPanel } from "./faults.js";

export default function Outcomes() {
  const found = useResource(() => inWorld.get("/outcomes"), { on: ["outcome", "world"] });
  const of = {
    noun: "outcome", title: "Outcomes", add: "Add an outcome", any: "any operation", reload: found.reload,
    lead: "How the next operations end. Each applies to one operation unless it says otherwise.",
    none: "No outcome is pending: operations end as usual.",
    armed: "Pending and applied", states: ["pending", "applied"], submit: "Add",
  };
  return html`<${Shown} of=${found}>${(data) => html`<${ArmedPanel} of=${of} rows=${data.items} />`}<//>`;
}
