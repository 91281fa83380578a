// The contract's calls, as described by the emulator.

import { api } from "./api.js";
import { computed, signal } from "./lib.js";

/** The example value for a query parameter that is an integer. */
const PAGE_SIZE = 5;

/** @typedef {{id: string, says: string, method: string, path: string, response: string, key: boolean, body?: any, query?: string}} Call */
const described = signal([]);

/** Every call, with a body and a query that can be sent unchanged. The list is empty until it has been loaded. */
export const calls = computed(() => described.value.map(asCall));

/** Request the calls until the emulator responds. */
export const startCalls = () => api.get("/contract/calls").then(({ items }) => (described.value = items), () => setTimeout(startCalls, 1000));

/** @returns {Call} */
const asCall = ({ call_id, summary, method, path, response, idempotent, body, query }) => ({
  id: call_id,
  says: summary,
  method,
  path,
  response,
  key: idempotent,
  body: body.length ? Object.fromEntries(body.map(({ name, example }) => [name, example])) : undefined,
  query: query
    .map(({ name, schema }) => [name, schema.enum?.[0] ?? (schema.type === "integer" ? PAGE_SIZE : undefined)])
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .join("&"),
});

/** Names of requests that are not calls of the contract. @type {Record<string, string>} */
const MORE = { redeem_ticket: "Redeem a ticket" };

/** Return the name that the page shows for a call. @param {string | null} id */
export const callName = (id) => calls.value.find((call) => call.id === id)?.says ?? MORE[id ?? ""] ?? id ?? "No call";

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Return a request as a curl command. `$HOSTING_TOKEN` stands for the token unless a token is given.
 * @param {{method: string, url: string, token?: string | null, headers?: [string, string][], body?: string}} what
 */
export function curl({ method, url, token, headers = [], body }) {
  const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`}`];
  if (token !== null) lines.push(token ? `-H ${quoted(`Authorization: Bearer ${token}`)}` : '-H "Authorization: Bearer $HOSTING_TOKEN"');
  for (const [name, value] of headers) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body) lines.push(`-d ${quoted(body)}`);
  lines.push(quoted(url));
  return lines.join(" \\\n  ");
}
