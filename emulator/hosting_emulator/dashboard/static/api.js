// Sends requests to the control API, and to a world's `/v1` as any user of the world.

import { world } from "./here.js";

const CONTROL = "/_emulator";

/** The error for a request to the control API that failed or was refused. */
export class ApiError extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
  }
}

/**
 * Send a request, and read the whole response. `none` is the title and detail of the error if no response arrives.
 * @param {string} url @param {string} method @param {any} body @param {[string, string]} none
 * @param {Record<string, string>} [headers]
 */
async function fetched(url, method, body, none, headers = {}) {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  if (sent !== undefined) headers["Content-Type"] = "application/json";
  try {
    const response = await fetch(url, { method, headers, body: sent });
    return { response, text: await response.text() };
  } catch {
    throw new ApiError(0, ...none);
  }
}

/** @param {string} method @param {string} path @param {any} [body] @returns {Promise<any>} */
async function ask(method, path, body) {
  const { response, text } = await fetched(CONTROL + path, method, body, ["Not reached", "The emulator does not respond. Is it still running?"]);
  const parsedBody = asJson(text);
  if (response.ok) return parsedBody;
  throw new ApiError(response.status, parsedBody?.title ?? response.statusText, parsedBody?.detail ?? text);
}

/** @param {() => string} prefix */
const below = (prefix) => ({
  get: (path) => ask("GET", prefix() + path),
  post: (path, body = {}) => ask("POST", prefix() + path, body),
  put: (path, body) => ask("PUT", prefix() + path, body),
  patch: (path, body) => ask("PATCH", prefix() + path, body),
  delete: (path) => ask("DELETE", prefix() + path),
});

/** Requests under `/_emulator`. */
export const api = below(() => "");
/** Requests under `/_emulator/worlds/{the current world}`. */
export const inWorld = below(() => `/worlds/${encodeURIComponent(world.value)}`);

/** Return a new access token for a user of this world. @param {string} user */
export async function tokenOf(user) {
  return (await inWorld.post("/tokens", { user })).access_token;
}

/** Return the prefix of this world's `/v1` on this server. */
export function publicPrefix() {
  return world.value === "default" ? "" : `/worlds/${encodeURIComponent(world.value)}`;
}

/** Parse a text as JSON. If it is not JSON, return it unchanged. @param {string} text */
export function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @type {Promise<{header: string, value: string}> | undefined} */
let secret;

/**
 * The header that marks a request as sent from this page, so that the rules of conduct skip it.
 * @returns {Promise<Record<string, string>>}
 */
export async function pageHeader() {
  secret ??= api.get("/page-secret");
  const { header, value } = await secret;
  return { [header]: value };
}

let keys = 0;

/** Return an Idempotency-Key that has not been used before. */
export function newKey() {
  return `page-${Date.now().toString(36)}-${(keys += 1)}`;
}

/**
 * Send one request to this world's public API. `path` begins with `/v1`.
 * @param {{method: string, path: string, user?: string, key?: string, body?: any}} what
 * @returns {Promise<{status: number, headers: [string, string][], body: any}>}
 */
export async function send({ method, path, user, key, body }) {
  const headers = await pageHeader();
  if (user) headers.Authorization = `Bearer ${await tokenOf(user)}`;
  if (key) headers["Idempotency-Key"] = key;
  const { response, text } = await fetched(publicPrefix() + path, method, body, ["No response", "The connection ended without a complete response."], headers);
  return { status: response.status, headers: [...response.headers], body: asJson(text) };
}
