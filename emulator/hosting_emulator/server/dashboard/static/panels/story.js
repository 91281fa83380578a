// What running a scenario's story came to, step by step.

import { html } from "../lib.js";
import { Badge } from "../parts.js";
import { counted } from "../words.js";

export const Story = ({ told: { passed, steps } }) => html`<div class="story">
  <p><${Badge} tone=${passed ? "good" : "bad"}>${passed ? "passed" : "failed"}<//>${" "}
    ${steps.length ? `${counted(steps.length, "step")}, in a temporary world.` : "The scenario is valid; it has no story."}</p>
  ${steps.length > 0 && html`<ol class="steps">${steps.map((step) => html`<li key=${step.n} class=${step.passed ? "" : "bad"}>
    <span><b>${step.passed ? "✓" : "✗"}<span class="visually-hidden">${step.passed ? " passed" : " failed"}</span></b> ${step.title}</span>
    <span class="quiet">${step.said}</span>
    ${step.differences.length > 0 && html`<ul>${step.differences.map((one) => html`<li key=${textOf(one)}>${textOf(one)}</li>`)}</ul>`}
  </li>`)}</ol>`}
</div>`;

/** What a live region says of it. */
export const verdict = ({ passed }) => (passed ? "The story passed." : "The story failed.");

const textOf = ({ at, expected, found }) => `${at}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`;
