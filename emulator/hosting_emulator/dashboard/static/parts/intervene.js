// A button for one intervention on a known resource. It opens a small form if more fields are needed.

import { inWorld } from "../api.js";
import { html } from "../lib.js";
import { capital, spoken } from "../words.js";
import { Button, MenuButton } from "./button.js";
import { Form } from "./form.js";
import { act } from "./toast.js";

/**
 * `fixed` contains the known fields, and `fields` describes the fields that the user must fill in. Without `fields`, one
 * press applies the intervention. A toast then shows the emulator's message about the effect.
 * @param {{word: string, fixed: Record<string, any>, label?: string, danger?: boolean, primary?: boolean,
 *   fields?: import("./form.js").Field[]}} props
 */
export function Intervene({ word, fixed, label = spoken(word), danger, primary, fields = [] }) {
  const kind = danger ? "danger" : primary ? "primary" : undefined;
  const intervene = (values = {}) => inWorld.post("/interventions", { [word]: { ...fixed, ...values } });
  if (!fields.length) {
    return html`<${Button} small kind=${kind} onClick=${() => act(() => intervene(), said)}>${label}<//>`;
  }
  return html`<${MenuButton} small kind=${kind} label=${label}>
    ${(/** @type {() => void} */ close) => html`<${Form}
      label=${label} submit=${label} kind=${kind ?? "primary"} fields=${fields}
      onSubmit=${async (values) => {
        const response = await intervene(values);
        await act(async () => response, said);
        close();
      }} />`}
  <//>`;
}

const said = (response) => `${capital(response.message)}.`;

/** Buttons that expire or revoke a ticket or a key. @param {{of: "ticket"|"key", id: string}} props */
export const EndEarly = ({ of, id }) => html`<span class="row">
  <${Intervene} word=${`expire_${of}`} label="Expire" fixed=${{ [of]: id }} />
  <${Intervene} word=${`revoke_${of}`} label="Revoke" danger fixed=${{ [of]: id }} /></span>`;
