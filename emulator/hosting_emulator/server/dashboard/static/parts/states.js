// Empty, loading and error: every list has all three.

import { html } from "../lib.js";
import { Button } from "./button.js";

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
 * What a resource has come to.
 * @param {{of: import("../resource.js").Resource<any>, empty?: (data: any) => any,
 *   children: (data: any) => any}} props
 */
export function Shown({ of, empty, children }) {
  if (of.data === undefined) {
    return of.error ? html`<${Failure} error=${of.error} again=${of.reload} />` : html`<${Loading} />`;
  }
  const nothing = empty?.(of.data);
  return html`${of.error && html`<${Failure} error=${of.error} again=${of.reload} />`}
  ${nothing ? html`<${Empty}>${nothing}<//>` : children(of.data)}`;
}
