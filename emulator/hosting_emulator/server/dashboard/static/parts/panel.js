// The frame of a panel, and of a card in it.

import { html, useId } from "../lib.js";

/** @param {{title: any, lead?: any, actions?: any, children?: any}} props */
export function Panel({ title, lead, actions, children }) {
  return html`<div class="panel">
    <header class="panel-head">
      <div>
        <h1 id="panel-title" tabindex="-1">${title}</h1>
        ${lead && html`<p class="quiet">${lead}</p>`}
      </div>
      ${actions && html`<div class="row">${actions}</div>`}
    </header>
    ${children}
  </div>`;
}

/** @param {{title: any, lead?: any, actions?: any, children?: any, wide?: boolean}} props */
export function Section({ title, lead, actions, children, wide }) {
  const id = useId();
  return html`<section class=${`card${wide ? " wide" : ""}`} aria-labelledby=${id}>
    <header class="card-head">
      <h2 id=${id}>${title}</h2>
      ${actions && html`<div class="row">${actions}</div>`}
    </header>
    ${lead && html`<p class="quiet">${lead}</p>`}
    ${children}
  </section>`;
}
