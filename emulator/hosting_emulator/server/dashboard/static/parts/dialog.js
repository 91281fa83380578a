// A question before something that cannot be taken back.

import { html, signal, useEffect, useRef } from "../lib.js";
import { Button } from "./button.js";
import { act } from "./toast.js";

/** @typedef {{title: string, text?: any, yes: string, danger?: boolean}} Question */
const open = signal(null);

/** Ask; Escape is no. @param {Question} question @returns {Promise<boolean>} */
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
 * Ask, and do it, as `act` does, when the answer is yes.
 * @param {Question} question @param {Parameters<typeof act>} how
 */
export const surely = async (question, ...how) => ((await ask(question)) ? act(...how) : undefined);

/** Where the question stands; the frame has one. */
export function DialogRegion() {
  const question = open.value;
  const dialog = useRef(null);
  useEffect(() => {
    if (question && !dialog.current?.open) dialog.current?.showModal();
  }, [question]);
  if (!question) return null;
  const { title, text, yes, danger, done } = question;
  const answer = (/** @type {boolean} */ said) => {
    dialog.current?.close(); // first: it gives the focus back to where it was
    done(said);
  };
  return html`<dialog
    ref=${dialog}
    aria-labelledby="dialog-title"
    onCancel=${(/** @type {Event} */ event) => {
      event.preventDefault();
      answer(false);
    }}
  >
    <h2 id="dialog-title">${title}</h2>
    ${text && html`<p>${text}</p>`}
    <div class="row end">
      <${Button} onClick=${() => answer(false)}>Cancel<//>
      <${Button} kind=${danger ? "danger" : "primary"} onClick=${() => answer(true)}>${yes}<//>
    </div>
  </dialog>`;
}
