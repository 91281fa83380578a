// The frames of a panel and of the cards in it, and the states empty, loading and failed, which every list can have.

import { html, useId } from "../lib.js";
import { PANELS } from "../panels.js";
import { route } from "../store.js";
import { Button } from "./button.js";

export function Panel({ title, lead, actions, children }) {
  const guide = PANELS.find(({ id }) => id === route.value.panel)?.guide;
  return html`<div class="panel">
    <header class="panel-head">
      <div>
        <h1 id="panel-title" tabindex="-1">${title}</h1>
        <p class="quiet">${lead} ${guide && html`<a href=${`/_emulator/docs/${guide}`}>Read the guide</a>`}</p>
      </div>
      ${actions && html`<div class="row">${actions}</div>`}
    </header>
    ${children}
  </div>`;
}

/**
 * `heading` is a `ref` for a heading that can receive the focus.
 * @param {{title: any, lead?: any, actions?: any, children?: any, kind?: "wide"|"detail", heading?: any}} props
 */
export function Section({ title, lead, actions, children, kind, heading }) {
  const id = useId();
  return html`<section class=${kind ? `card ${kind}` : "card"} aria-labelledby=${id}>
    <header class="spread">
      <h2 id=${id} ref=${heading} tabindex=${heading && "-1"}>${title}</h2>
      ${actions && html`<div class="row">${actions}</div>`}
    </header>
    ${lead && html`<p class="quiet">${lead}</p>`}
    ${children}
  </section>`;
}

/** @param {{children?: any}} props */
export const Empty = ({ children }) => html`<p class="state">${children}</p>`;

export const Loading = () => html`<p class="state loading">Loading…</p>`;

/** @param {{error: any, again?: () => any}} props */
export function Failure({ error, again }) {
  return html`<div class="state failure">
    <p><strong>${error.title ?? "Something went wrong"}</strong></p>
    <p>${error.detail ?? String(error)}</p>
    ${again && html`<${Button} onClick=${again}>Try again<//>`}
  </div>`;
}

/**
 * Shows a resource in its current state.
 * @param {{of: import("../resource.js").Resource<any>, empty?: (data: any) => any,
 *   children: (data: any) => any}} props
 */
export function Shown({ of, empty, children }) {
  const failure = of.error && html`<${Failure} error=${of.error} again=${of.reload} />`;
  if (of.data === undefined) return failure || html`<${Loading} />`;
  const nothing = empty?.(of.data);
  return html`${failure}
  ${nothing ? html`<${Empty}>${nothing}<//>` : children(of.data)}`;
}
