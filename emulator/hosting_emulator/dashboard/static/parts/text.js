// Small pieces of text: badges, times, facts and code.

import { asJson } from "../api.js";
import { html } from "../lib.js";
import { moment, sinceNow, spoken, toneOf, toneOfStatus } from "../words.js";
import { CopyButton } from "./button.js";

/** @param {{tone?: "good"|"warn"|"bad"|"busy"|"calm", children?: any}} props */
export const Badge = ({ tone = "calm", children }) =>
  html`<span class=${`badge ${tone}`}>${children}</span>`;

/** @param {{state: string}} props */
export const StateBadge = ({ state }) =>
  html`<${Badge} tone=${toneOf(state)}>${spoken(state)}<//>`;

/** @param {{at: string | null | undefined, time?: boolean}} props */
export function Moment({ at, time }) {
  if (!at) return html`<span class="quiet">—</span>`;
  return html`<time datetime=${at} title=${`${at}, ${sinceNow(at)}`}>${moment(at, time)}</time>`;
}

/** @param {{of: [any, any][]}} props */
export const Facts = ({ of }) => html`<dl class="facts">
  ${of.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`;

/** An address on one line, with a button to copy it. @param {{text: string}} props */
export const Address = ({ text }) => html`<span class="spread tight address"><code>${text}</code><${CopyButton} text=${text} /></span>`;

/**
 * @param {{text: string, label: string, copy?: boolean | (() => Promise<string>), shell?: boolean}} props
 */
export function Code({ text, label, copy = true, shell }) {
  return html`<div class=${`code${shell ? " shell" : ""}`}>
    <pre tabindex="0" role="region" aria-label=${label}><code>${text}</code></pre>
    ${copy && html`<${CopyButton} text=${copy === true ? text : copy} />`}
  </div>`;
}

/** @param {{value: any, label: string}} props */
export function Json({ value, label }) {
  const parsedValue = typeof value === "string" ? asJson(value) : value;
  return html`<${Code} text=${typeof parsedValue === "string" ? value : JSON.stringify(parsedValue, null, 2)} label=${label} />`;
}

/** A badge with a response's status, or a dash if the client received no status. @param {{of: {status: number, lost: string | null}}} props */
export const StatusBadge = ({ of }) =>
  html`<${Badge} tone=${toneOfStatus(of.lost ? 0 : of.status)}>${of.status || "—"}<//>`;

/** A badge that says that the response was lost, with the kind of fault. Shows nothing if the response arrived. @param {{of: {lost: string | null}}} props */
export const Lost = ({ of }) => of.lost && html`<${Badge} tone="bad">response lost: ${of.lost}<//>`;
