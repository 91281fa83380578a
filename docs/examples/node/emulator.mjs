// Creates fresh worlds in the hosting emulator, for example one for each test. Copy this file into your
// project. It requires Node 18 or newer, and no packages. `hosting-emulator exec -- CMD` sets the
// environment variables that it reads. `hosting-emulator env` prints them for your shell, except the
// control token.

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
 * Create a world. By default, the world's clock is frozen until you advance it.
 *
 * With the option `{ clock: { mode: "skip" } }`, each poll advances the clock. The options
 * `{ scenario: { name: "provider-outage" } }` and `{ scenario: { text: yaml } }` choose a scenario.
 */
export async function freshWorld(options = {}) {
  const summary = await control("POST", "/worlds", { clock: { mode: "frozen" }, token: {}, ...options });
  return new World(summary);
}

export class World {
  #path;

  constructor({ name, base_url, token, organizations, projects }) {
    this.#path = `/worlds/${name}`;
    /** The part of the world's URLs that precedes `/v1/…`. */
    this.baseUrl = base_url;
    /** An access token for the user `owner`. */
    this.token = token.access_token;
    /** The ids of organizations and projects by alias: `world.projects.shop`. */
    this.organizations = idsByAlias(organizations);
    this.projects = idsByAlias(projects);
  }

  /** Return the full URL of a path. `new URL(path, baseUrl)` would drop the path of the world. */
  url(path) {
    return this.baseUrl + path;
  }

  /** Send a request like the global `fetch`, but to a path in this world and with the token of `owner`. */
  fetch(path, { headers, ...options } = {}) {
    return fetch(this.url(path), { headers: { Authorization: `Bearer ${this.token}`, ...headers }, ...options });
  }

  /** Return an access token for another user, such as `reader`. */
  async tokenOf(user) {
    return (await this.#send("POST", "/tokens", { user })).access_token;
  }

  /** Advance the clock, for example by `10m`. */
  async advance(by) {
    await this.#send("POST", "/clock/advance", { by });
  }

  /** Advance the clock until an operation ends, and return the operation's final state. */
  async until(operation) {
    await this.#send("POST", "/clock/advance", { until_operation: operation.id });
    return (await this.#send("GET", `/operations/${operation.id}/why`)).state;
  }

  /** Arm a fault, such as `{ abort: { code: "rate_limited" }, times: 1 }`. */
  async addFault(fault) {
    return await this.#send("POST", "/faults", fault);
  }

  /** Choose how the next operation ends, for example with `{ fail: { phase: "deploying" } }`. */
  async addOutcome(outcome) {
    return await this.#send("POST", "/outcomes", outcome);
  }

  /**
   * Return the requests to this world, newest first. Each contains its response's `status`, but no bodies.
   *
   * The emulator keeps the latest 1,000 requests to a world.
   */
  async requests() {
    return (await this.#send("GET", "/requests?trail=false&limit=1000")).items;
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
