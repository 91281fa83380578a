// Saves this world's history as a scenario file.

import { inWorld } from "../api.js";
import { html } from "../lib.js";
import { act, Button } from "../parts.js";
import { counted } from "../words.js";

const LEFT_OUT = "left out, because a story cannot express their responses";

export function SaveScenario() {
  const save = () => act(() => inWorld.get("/scenario"), ({ name, steps, left_out: { length } }) =>
    `${name}.yaml is saved: a story of ${counted(steps, "step")}${length ? `; ${counted(length, "request")} ${LEFT_OUT}` : ""}.`,
    ({ name, text }) => keep(`${name}.yaml`, text));
  return html`<${Button} onClick=${save} title="Everything done in this world, as a scenario file">Save as scenario<//>`;
}

/** Make the browser download a text as a file. @param {string} name @param {string} text */
function keep(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
