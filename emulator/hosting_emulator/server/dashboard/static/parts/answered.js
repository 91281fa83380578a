// What became of a request's answer, in short: lists and details say it with the same words.

import { html } from "../lib.js";
import { toneOfStatus } from "../words.js";
import { Badge } from "./text.js";

/** The status, or a dash where none reached the client. @param {{of: {status: number, lost: string | null}}} props */
export const Answered = ({ of }) =>
  html`<${Badge} tone=${toneOfStatus(of.lost ? 0 : of.status)}>${of.status || "—"}<//>`;

/** Says that the answer was lost, and to what; nothing for one that arrived. @param {{of: {lost: string | null}}} props */
export const Lost = ({ of }) => of.lost && html`<${Badge} tone="bad">answer lost: ${of.lost}<//>`;
