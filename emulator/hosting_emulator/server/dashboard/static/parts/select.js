// One of some words to choose.

import { html } from "../lib.js";

/**
 * What else is given stands on the element.
 * @param {{value: string, set: (value: string) => void, choices: {value: string, label: string}[]}
 *   & Record<string, any>} props
 */
export const Select = ({ value, set, choices, ...rest }) => html`<select ...${rest} value=${value} onChange=${(event) => set(event.currentTarget.value)}>
  ${choices.map((one) => html`<option key=${one.value} value=${one.value} selected=${one.value === value}>${one.label}</option>`)}
</select>`;
