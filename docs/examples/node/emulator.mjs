// A fresh world of the hosting emulator for each test. Copy this file into your project: it needs only Node 18.
// The environment variables that it reads come from `hosting-emulator exec -- CMD`, or from `hosting-emulator env`.

const CONTROL_URL = process.env.HOSTING_CONTROL_URL;
const CONTROL_TOKEN = process.env.HOSTING_EMULATOR_CONTROL_TOKEN;

async function control(method, path, body) {
  if (!CONTROL_URL) {
    throw new Error("There is no emulator: run `hosting-emulator exec -- node --test`.");
  }
  const headers = CONTROL_TOKEN ? { "X-Control-Token": CONTROL_TOKEN } : {};
  const response = await fetch(CONTROL_URL + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  const document = text ? JSON.parse(text) : undefined;
  if (!response.ok) throw new Error(document?.detail ?? `${method} ${path}: ${response.status}`);
  return document;
}

/**
 * Create a world. Its clock stands still until the test moves it.
 *
 * Examples of options: `{ clock: { mode: "skip" } }`, with which polling moves the clock,
 * and `{ scenario: { name: "provider-outage" } }` or `{ scenario: { text: yaml } }`.
 */
export async function freshWorld(options = {}) {
  const summary = await control("POST", "/worlds", { clock: { mode: "frozen" }, token: {}, ...options });
  return new World(summary);
}

export class World {
  #path;

  constructor({ name, base_url, token, organizations, projects }) {
    this.#path = `/worlds/${name}`;
    /** What stands before `/v1/…` in this world. */
    this.baseUrl = base_url;
    /** An access token of the user `owner`. */
    this.token = token.access_token;
    /** The ids of organizations and projects by alias: `world.projects.shop`. */
    this.organizations = idsByAlias(organizations);
    this.projects = idsByAlias(projects);
  }

  /** The full URL of a path. `new URL(path, baseUrl)` would lose the world, so join the strings. */
  url(path) {
    return this.baseUrl + path;
  }

  /** Like the global `fetch`, with a path instead of a URL, and with the token of `owner`. */
  fetch(path, { headers, ...options } = {}) {
    return fetch(this.url(path), { headers: { Authorization: `Bearer ${this.token}`, ...headers }, ...options });
  }

  /** An access token of another user, for example `reader`. */
  async tokenOf(user) {
    return (await this.#send("POST", "/tokens", { user })).access_token;
  }

  /** Move the clock forward, for example by `10m`. */
  async advance(by) {
    await this.#send("POST", "/clock/advance", { by });
  }

  /** Move the clock forward until an operation ends, and return the operation's final state. */
  async until(operation) {
    await this.#send("POST", "/clock/advance", { until_operation: operation.id });
    return (await this.#send("GET", `/operations/${operation.id}/why`)).state;
  }

  /** Arm a fault: `{ abort: { code: "rate_limited" }, times: 1 }`. */
  async addFault(fault) {
    return await this.#send("POST", "/faults", fault);
  }

  /** Set how the next operation ends: `{ fail: { phase: "deploying" } }`. */
  async addOutcome(outcome) {
    return await this.#send("POST", "/outcomes", outcome);
  }

  /** The requests of this world with their responses, the newest first. */
  async requests() {
    return (await this.#send("GET", "/requests?trail=false")).items;
  }

  /** Delete the world. */
  async close() {
    await this.#send("DELETE", "");
  }

  #send(method, path, body) {
    return control(method, this.#path + path, body);
  }
}

function idsByAlias(records) {
  return Object.fromEntries(records.map(({ alias, id }) => [alias, id]));
}
