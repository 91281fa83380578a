// A form, which is described by a list of fields, and a selection from a list of values. A form omits empty fields from
// the values that it submits.

import { html, useId, useLayoutEffect, useRef, useState } from "../lib.js";
import { Button } from "./button.js";

/**
 * @typedef {string | {value: any, label: string}} Choice
 * @typedef {{name: string, label?: string, kind?: "text"|"number"|"checkbox"|"select"|"textarea"|"json",
 *   choices?: Choice[], help?: any, required?: boolean, placeholder?: string, value?: any,
 *   min?: number, max?: number, unset?: string, on?: (value: string) => void}} Field
 * @param {{fields: Field[], submit: string, onSubmit: (values: Record<string, any>) => any,
 *   values?: Record<string, any>, inline?: boolean, cancel?: () => void,
 *   kind?: "primary"|"danger"|"quiet", label?: string}} props
 */
export function Form({ fields, submit, onSubmit, values = {}, inline, cancel, kind = "primary", label }) {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const id = useId();
  const form = useRef(null);

  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await onSubmit(read(/** @type {HTMLFormElement} */ (form.current), fields));
    } catch (failure) {
      setError(failure);
      const named = blamed(failure, fields);
      /** @type {any} */ (form.current?.elements.namedItem(named))?.focus();
    }
    setBusy(false);
  };
  const at = error && blamed(error, fields);
  return html`<form class=${`form${inline ? " inline" : ""}`} ref=${form} aria-label=${label} onSubmit=${send}>
    ${fields.map((field) => html`<${Control}
      key=${field.name} field=${field} id=${`${id}-${field.name}`}
      start=${values[field.name] ?? field.value} error=${at === field.name ? error.message : ""} />`)}
    ${error && !at && html`<p class="error" role="alert">${error.title && html`<strong>${error.title}. </strong>`}${error.message}</p>`}
    <div class="row buttons">
      <${Button} type="submit" kind=${kind} busy=${busy}>${submit}<//>
      ${cancel && html`<${Button} onClick=${cancel}>Cancel<//>`}
    </div>
  </form>`;
}

/** Return the name of the field that an error is about, or an empty string. @param {any} error @param {Field[]} fields */
function blamed(error, fields) {
  if (error.field) return error.field;
  const field = fields.find(({ name }) => new RegExp(`(^|[.\\s'"\`])${name}(['"\`:]|\\.\\d|$)`).test(error.message ?? ""));
  return field?.name ?? "";
}

/** @param {HTMLFormElement} form @param {Field[]} fields */
function read(form, fields) {
  /** @type {Record<string, any>} */
  const values = {};
  for (const { name, kind, label } of fields) {
    const control = /** @type {any} */ (form.elements.namedItem(name));
    if (kind === "checkbox") values[name] = control.checked;
    else if (control.value.trim() === "") continue;
    else if (kind === "number") values[name] = Number(control.value);
    else if (kind === "json") values[name] = parsed(control.value, name, label ?? name);
    else values[name] = control.value.trim();
  }
  return values;
}

function parsed(text, name, label) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `${label} is not JSON: ${/** @type {Error} */ (error).message}`;
    throw Object.assign(new Error(message), { field: name });
  }
}

/** @param {{field: Field, id: string, start: any, error: string}} props */
function Control({ field, id, start, error }) {
  const { name, label = name, kind = "text", help, required } = field;
  const describedBy = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(" ");
  const shared = {
    id,
    name,
    required,
    "aria-describedby": describedBy || undefined,
    "aria-invalid": error ? "true" : undefined,
  };
  const notes = html`${help && html`<small id=${`${id}-help`} class="quiet">${help}</small>`}
  ${error && html`<small id=${`${id}-error`} class="error" role="alert">${error}</small>`}`;
  if (kind === "checkbox") {
    return html`<div class="row check">
      <input type="checkbox" ...${shared} defaultChecked=${Boolean(start)} /><label for=${id}>${label}</label>${notes}
    </div>`;
  }
  return html`<div class=${`field ${kind}`}>
    <label for=${id}>${label}${!required && html` <span class="quiet">${field.unset ?? "optional"}</span>`}</label>
    <${Input} field=${field} shared=${shared} start=${start} />${notes}
  </div>`;
}

/** @param {{field: Field, shared: Record<string, any>, start: any}} props */
function Input({ field, shared, start }) {
  const { kind = "text", choices = [], placeholder, required, min, max, on } = field;
  const text = start == null ? "" : kind === "json" && typeof start !== "string" ? JSON.stringify(start, null, 2) : String(start);
  const onInput = on && ((event) => on(event.currentTarget.value));
  const control = useRef(null);
  const before = useRef(text);
  useLayoutEffect(() => {
    // Update a field that the user has not changed when its initial value changes.
    if (control.current?.value === before.current) control.current.value = text;
    before.current = text;
  }, [text]);
  const options = choices.map(asOption);
  if (kind === "select") {
    return html`<select ...${shared} onInput=${onInput}>
      ${!required && html`<option value="" selected=${start == null}>—</option>`}
      ${options.map(({ value, label }) => html`<option key=${value} value=${value} selected=${String(value) === String(start)}>${label}</option>`)}
    </select>`;
  }
  if (kind === "textarea" || kind === "json") {
    const rows = Math.min(16, Math.max(3, text.split("\n").length));
    return html`<textarea ref=${control} ...${shared} rows=${rows} spellcheck="false" placeholder=${placeholder} defaultValue=${text}></textarea>`;
  }
  const list = options.length ? `${shared.id}-list` : undefined;
  return html`<input ref=${control} ...${shared} onInput=${onInput} type=${kind} list=${list} min=${min} max=${max} step=${kind === "number" ? "any" : undefined}
      autocomplete="off" placeholder=${placeholder} defaultValue=${text} />
    ${list && html`<datalist id=${list}>${options.map(({ value, label }) => html`<option key=${value} value=${value}>${label}</option>`)}</datalist>`}`;
}

/** @param {Choice} row */
const asOption = (row) => (typeof row === "object" ? row : { value: row, label: String(row) });

/**
 * A selection from a list of values. All other props become attributes of the element.
 * @param {{value: string, set: (value: string) => void, choices: Choice[]}
 *   & Record<string, any>} props
 */
export const Select = ({ value, set, choices, ...rest }) => html`<select ...${rest} value=${value} onChange=${(event) => set(event.currentTarget.value)}>
  ${choices.map(asOption).map((one) => html`<option key=${one.value} value=${one.value} selected=${one.value === value}>${one.label}</option>`)}
</select>`;
