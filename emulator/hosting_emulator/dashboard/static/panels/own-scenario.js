// The user's own scenario: paste it, check it, and load it or run its story. Shows errors at their positions.

import { api, inWorld } from "../api.js";
import { html, signal, useEffect, useId, useRef, useState } from "../lib.js";
import { ask, Badge, Button, Section, toast } from "../parts.js";
import { said, world } from "../store.js";
import { counted } from "../words.js";

/** The text that the user is writing. It is kept while other panels are shown. @type {import("../vendor/signals.js").Signal<string>} */
export const draft = signal("");
let wanted = false;
const LEAD = "Paste a scenario. Check builds its world and runs its story there; this world does not change.";

/** Move the focus to the text field, or do so as soon as the field exists. */
export function focusField() {
  /** @type {HTMLElement | null} */
  const field = document.querySelector("textarea.yaml");
  if (field) field.focus();
  else wanted = true;
}

export function OwnScenario() {
  const [{ error, report }, setResult] = useState(/** @type {Record<string, any>} */ ({}));
  const area = useRef(null);
  const id = useId();
  useEffect(() => {
    if (wanted) area.current?.focus();
    wanted = false;
  }, []);

  /** Run a task on the text. If it fails, show the error at its position in the text. @param {() => Promise<void>} work */
  const trying = async (work) => {
    setResult({});
    try {
      await work();
    } catch (failure) {
      const wrong = placed(failure, draft.peek());
      setResult({ error: wrong });
      if (area.current) show(area.current, wrong);
    }
  };
  const check = () => trying(async () => {
    const storyReport = await api.post("/scenarios/run", { text: draft.peek() });
    setResult({ report: storyReport });
    said.value = storyReport.steps.length ? verdict(storyReport) : "The scenario is valid.";
  });
  const load = async () => {
    const warning = `The content of world ${world.value} is replaced with the world of your scenario.`;
    if (!await ask({ title: "Load your scenario", text: warning, yes: "Load", danger: true })) return;
    await trying(async () => {
      const { notices } = await inWorld.post("/scenario", { text: draft.peek(), replace: true });
      toast([`World ${world.value} now has the world of your scenario.`, ...notices].join(" "), "good");
    });
  };
  return html`<${Section} title="Your own scenario" lead=${LEAD}>
    <div class="form">
      <div class="field">
        <label for=${id}>Scenario, as YAML</label>
        <textarea id=${id} class="yaml" ref=${area} rows="18" spellcheck="false" autocapitalize="off" wrap="off" value=${draft.value}
          aria-invalid=${error ? "true" : undefined} aria-describedby=${error ? `${id}-error ${id}-help` : `${id}-help`}
          onInput=${(event) => (draft.value = event.currentTarget.value)}></textarea>
        <small id=${`${id}-help`} class="quiet">Format: <a href="/_emulator/contract/scenario-schema.json">the schema</a>, or see any scenario of the library.</small>
      </div>
      ${error && html`<${Wrong} id=${`${id}-error`} of=${error} />`}
      <div class="row buttons">
        <${Button} kind="primary" onClick=${check}>Check<//>
        <${Button} onClick=${load}>Load into this world<//>
      </div>
    </div>
    ${report && html`<${Story} report=${report} />`}
  <//>`;
}

/**
 * @typedef {{line: number, column: number, message: string, text: string}} Wrong line 0: the whole of it
 * @param {{id: string, of: Wrong}} props
 */
const Wrong = ({ id, of }) => html`<div id=${id} class="error" role="alert">
  <p>${of.line > 0 && html`<strong>Line ${of.line}, column ${of.column}: </strong>`}${of.message}</p>
  ${of.text.trim() && html`<pre class="wrong-line"><code>${of.text}</code></pre>`}
</div>`;

/** Parse the position in an error message of the form `file:line:column: message`. @param {any} failure @param {string} text @returns {Wrong} */
function placed(failure, text) {
  const [, line, column, message] = /^[^\n:]*:(\d+):(\d+): ([^]*)$/.exec(failure.message) ?? [];
  if (!line) return { line: 0, column: 0, message: failure.message, text: "" };
  return { line: Number(line), column: Number(column), message, text: text.split("\n")[Number(line) - 1] ?? "" };
}

/** Select the text from an error's position to the end of the line. @param {HTMLTextAreaElement} area @param {Wrong} wrong */
function show(area, { line, column, text }) {
  area.focus();
  if (!line) return;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.setSelectionRange(start + Math.min(column - 1, text.length), start + text.length);
  area.scrollTop = (line - 4) * (area.scrollHeight / lines.length); // Scroll so that the error is near the top.
  area.scrollLeft = 0;
}

/** The result of a scenario's story, step by step. */
export const Story = ({ report: { passed, steps } }) => html`<div class="story">
  <p><${Badge} tone=${passed ? "good" : "bad"}>${passed ? "passed" : "failed"}<//>${" "}
    ${steps.length ? `${counted(steps.length, "step")}, in a temporary world.` : "The scenario is valid. It has no story."}</p>
  ${steps.length > 0 && html`<ol class="steps">${steps.map((step) => html`<li key=${step.n} class=${step.passed ? "" : "bad"}>
    <span><b>${step.passed ? "✓" : "✗"}<span class="visually-hidden">${step.passed ? " passed" : " failed"}</span></b> ${step.title}</span>
    <span class="quiet">${step.message}</span>
    ${step.differences.length > 0 && html`<ul>${step.differences.map((one) => html`<li key=${textOf(one)}>${textOf(one)}</li>`)}</ul>`}
  </li>`)}</ol>`}
</div>`;

/** Return the sentence that screen readers announce. */
export const verdict = ({ passed }) => (passed ? "The story passed." : "The story failed.");

const textOf = ({ at, expected, found, line, column }) => `${at} (line ${line}, column ${column}): expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`;
