// Search fields and filters of lists, and the focus after a row is removed.

import { inWorld } from "../api.js";
import { html, useId, useLayoutEffect, useRef, useState } from "../lib.js";
import { act, Empty, Select } from "../parts.js";
import { link } from "../store.js";

/**
 * Return a search field, and the items whose text contains every word in this field.
 * @template T
 * @param {T[]} items @param {(item: T) => string} textOf @param {string} [first]
 */
export function useFind(items, textOf, first = "") {
  const [text, setText] = useState(first);
  const id = useId();
  const words = text.toLowerCase().split(/\s+/);
  const has = (/** @type {string} */ within) => words.every((word) => within.includes(word));
  const field = html`<div class="field find">
    <label for=${id}>Find</label>
    <input type="search" id=${id} name="find" value=${text} autocomplete="off" spellcheck="false"
      onInput=${(event) => setText(event.currentTarget.value)} />
  </div>`;
  return { field, matches: items.filter((item) => has(textOf(item).toLowerCase())) };
}

/**
 * @param {{label: string, name: string, value: string, set: (value: string) => void,
 *   choices: import("../parts/form.js").Choice[]}} props
 */
export function Pick({ label, ...rest }) {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <${Select} id=${id} ...${rest} />
  </div>`;
}

/**
 * A list to choose from, in which each entry is a link to its own view in the panel.
 * @param {{panel: string, items: {id: string, name: string, about: string}[], chosen?: string}} props
 */
export function Picks({ panel, items, chosen }) {
  const { field, matches } = useFind(items, ({ id, name, about }) => `${id} ${name} ${about}`);
  const list = useRef(null);
  useLayoutEffect(() => {
    const at = /** @type {HTMLElement|null|undefined} */ (list.current?.querySelector("[aria-current]"));
    if (at && list.current) list.current.scrollTop = at.offsetTop - list.current.offsetTop - 40;
  }, []);
  return html`${field}
    ${matches.length > 0 ? html`<ul class="pick" ref=${list}>${matches.map(({ id, name, about }) => html`<li key=${id}>
      <a href=${link(panel, id)} aria-current=${id === chosen ? "true" : undefined}>
        <b>${name}</b> <span class="quiet small">${about}</span></a></li>`)}</ul>` : html`<${Empty}>Nothing matches.<//>`}`;
}

/** Return text in which code spans are marked up. @param {string} text */
export const prose = (text) =>
  text.split("`").map((part, place) => (place % 2 ? html`<code>${part}</code>` : part));

/** A `ref` for an element that receives the focus when it appears. */
export const focused = (/** @type {HTMLElement | null} */ element) => element?.focus();

/** Move the focus to the panel's heading. */
export const toTitle = () => document.getElementById("panel-title")?.focus();

/**
 * Remove the resource in a row. The focus moves to the button of a neighboring row, or to the panel's heading.
 * @param {any} event @param {string} path @param {string} said @param {() => Promise<any>} reload
 */
export async function removeRow(event, path, said, reload) {
  const row = event.currentTarget.closest("tr");
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  await act(() => inWorld.delete(path), said, reload);
  if (row?.isConnected) return;
  const button = next?.isConnected ? next.querySelector("button") : null;
  if (button) button.focus();
  else toTitle();
}
