// A button for one intervention on a thing that is known; a small form for what is not.

import { api, inWorld } from "../api.js";
import { choicesFor } from "../choices.js";
import { html, signal } from "../lib.js";
import { spoken } from "../words.js";
import { Button, MenuButton } from "./button.js";
import { Form } from "./form.js";
import { act } from "./toast.js";

const known = signal(null);
let asked = false;

/** Every intervention there is; null until it is known. */
export function interventions() {
  if (!asked) {
    asked = true;
    api.get("/contract/interventions").then(
      (found) => (known.value = found.items),
      () => (asked = false),
    );
  }
  return known.value;
}

/**
 * Intervene in this world; the emulator's own sentence says what it did.
 * @param {string} word @param {Record<string, any>} fields
 */
export async function intervene(word, fields) {
  return inWorld.post("/interventions", { [word]: fields });
}

/**
 * `fixed` are the fields known already, `fields` what else is asked (all others when left out; none
 * when empty: then one press does it).
 * @param {{word: string, fixed: Record<string, any>, label?: string, danger?: boolean, primary?: boolean,
 *   fields?: import("./form.js").Field[]}} props
 */
export function Intervene({ word, fixed, label = spoken(word), danger, primary, fields }) {
  const kind = danger ? "danger" : primary ? "primary" : undefined;
  if (fields && !fields.length) {
    const once = () => act(() => intervene(word, fixed), said);
    return html`<${Button} small kind=${kind} onClick=${once}>${label}<//>`;
  }
  return html`<${MenuButton} small kind=${kind} label=${label}>
    ${(/** @type {() => void} */ close) => html`<${Form}
      label=${label} submit=${label} kind=${kind ?? "primary"} fields=${fields ?? others(word, fixed)}
      onSubmit=${async (values) => {
        const answer = await intervene(word, { ...fixed, ...values });
        await act(async () => answer, said);
        close();
      }} />`}
  <//>`;
}

const said = (answer) => `${answer.said[0].toUpperCase()}${answer.said.slice(1)}.`;

/** @param {string} word @param {Record<string, any>} fixed @returns {import("./form.js").Field[]} */
function others(word, fixed) {
  const found = interventions()?.find((row) => row.word === word);
  return (found?.fields ?? [])
    .filter((field) => !(field.name in fixed))
    .map((field) => ({
      name: field.name,
      label: spoken(field.name),
      required: field.required,
      choices: choicesFor(field.name),
    }));
}
