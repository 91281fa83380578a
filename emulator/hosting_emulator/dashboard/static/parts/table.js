// A table. In a narrow window, each row becomes a card.

import { html } from "../lib.js";
import { Empty } from "./panel.js";

/**
 * @typedef {{name: string, cell: (row: any) => any, number?: boolean, wide?: boolean}} Column
 * @param {{caption: string, columns: Column[], rows: any[], of: (row: any) => any,
 *   open?: (row: any) => any, current?: any, none?: any}} props `none` is shown if there are no rows
 */
export function Table({ caption, columns, rows, of, open, current, none }) {
  if (none && !rows.length) return html`<${Empty}>${none}<//>`;
  return html`<div class="table-box" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption class="visually-hidden">${caption}</caption>
      <thead>
        <tr>${columns.map(({ name, number }) => html`<th key=${name} scope="col" class=${number && "number"}>${name}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<${Row} key=${of(row)} row=${row} columns=${columns} open=${open} current=${current !== undefined && of(row) === current} />`)}
      </tbody>
    </table>
  </div>`;
}

/** @param {{row: any, columns: Column[], open?: (row: any) => any, current: boolean}} props */
function Row({ row, columns, open, current }) {
  return html`<tr aria-current=${current ? "true" : undefined}>
    ${columns.map(({ name, cell, number, wide }, place) => {
      const shown = cell(row);
      const content =
        open && place === 0
          ? html`<button type="button" class="opens" onClick=${() => open(row)}>${shown}</button>`
          : shown;
      const kind = [number && "number", wide && "wide"].filter(Boolean).join(" ");
      return html`<td key=${name} data-label=${name} class=${kind}><div>${content}</div></td>`;
    })}
  </tr>`;
}
