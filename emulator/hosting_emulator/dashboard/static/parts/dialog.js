// Dialogs, including the one that asks for confirmation before an action that cannot be undone.

import { html, signal, useEffect, useId, useRef } from "../lib.js";
import { Button } from "./button.js";
import { act } from "./toast.js";

/**
 * A dialog, which is open while it is rendered. Escape calls `closed`, which must stop rendering the dialog.
 * @param {{title: string, closed: () => void, children?: any, kind?: string}} props
 */
export function Dialog({ title, closed, children, kind }) {
  const dialog = useRef(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    current.showModal();
    return () => current.close(); // This also moves the focus back to where it was before.
  }, []);
  return html`<dialog class=${kind} ref=${dialog} aria-labelledby=${id} onClose=${() => dialog.current && closed()}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </dialog>`;
}

/** @typedef {{title: string, text?: any, yes: string, danger?: boolean}} Question */
const open = signal(null);

/** Ask a question. Escape means no. @param {Question} question @returns {Promise<boolean>} */
export function ask(question) {
  return new Promise((resolve) => {
    open.value = {
      ...question,
      done: (yes) => {
        open.value = null;
        resolve(yes);
      },
    };
  });
}

/**
 * Ask a question and, if the user agrees, do the work as `act` does.
 * @param {Question} question @param {Parameters<typeof act>} how
 */
export const surely = async (question, ...how) => ((await ask(question)) ? act(...how) : undefined);

/** The region in which questions appear. Only the frame contains it. */
export function DialogRegion() {
  if (!open.value) return null;
  const { title, text, yes, danger, done } = open.value;
  return html`<${Dialog} title=${title} closed=${() => done(false)}>
    ${text && html`<p>${text}</p>`}
    <div class="row end">
      <${Button} onClick=${() => done(false)}>Cancel<//>
      <${Button} kind=${danger ? "danger" : "primary"} onClick=${() => done(true)}>${yes}<//>
    </div>
  <//>`;
}
