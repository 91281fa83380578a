// Outcomes: how the next operations proceed and end.
import { html } from "../lib.js";
import { inWorld } from "../api.js";
import { Loaded } from "../parts.js";
import { ArmedPanel } from "./faults.js";

const OUTCOME = {
  noun: "outcome", title: "Outcomes", add: "Add an outcome", any: "any operation",
  lead: "How the next operations proceed and end. By default, each outcome applies to one operation.",
  none: "No outcome is armed: operations proceed as usual.",
  armed: "Pending and applied", states: ["pending", "applied"], submit: "Add",
};

export default () => html`<${Loaded} from=${() => inWorld.get("/outcomes")} on=${["outcome", "world"]}>
  ${(data, reload) => html`<${ArmedPanel} of=${{ ...OUTCOME, reload }} rows=${data.items} />`}<//>`;
