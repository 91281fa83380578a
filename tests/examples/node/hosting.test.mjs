// Tests of a client in Node, which use only `node --test` and fetch.
//
//   hosting-emulator exec --clock skip -- node --test

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

const { HOSTING_BASE_URL, HOSTING_TOKEN, HOSTING_ORGANIZATION_ID, HOSTING_PROJECT_ID } = process.env;
const project = `/v1/projects/${HOSTING_PROJECT_ID}`;

async function call(method, path, { body, key, token = HOSTING_TOKEN } = {}) {
  const headers = { Authorization: `Bearer ${token}` };
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(HOSTING_BASE_URL + path, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

// With `--clock skip`, each poll advances the clock to the operation's next event, so no test has to wait.
async function finished(operation) {
  const states = [operation.state];
  for (let polls = 0; !["succeeded", "failed", "cancelled"].includes(operation.state); polls++) {
    assert.ok(polls < 100, `the operation is still ${operation.state}`);
    ({ body: operation } = await call("GET", `/v1/operations/${operation.id}`));
    states.push(operation.state);
  }
  return { operation, states };
}

test("the flag is shown and hidden", async () => {
  for (const enabled of [true, false]) {
    const response = await call("PUT", `${project}/powered-by-flag`, { key: randomUUID(), body: { enabled } });

    assert.equal(response.status, 200);
    assert.equal(response.body.enabled, enabled);
  }
});

test("domains are applied, and a retry does not start another operation", async () => {
  const key = randomUUID();
  const accepted = await call("PUT", `${project}/domains`, { key });
  assert.equal(accepted.status, 202);

  const { operation, states } = await finished(accepted.body);
  assert.deepEqual([...new Set(states)], ["queued", "running", "succeeded"]);
  assert.match(operation.result.hostnames.production, /^shop\./);

  const retry = await call("PUT", `${project}/domains`, { key });
  assert.equal(retry.body.id, operation.id);
});

test("a dev access ticket opens the dev site", async () => {
  const ticket = await call("POST", `${project}/dev-access-tickets`);
  assert.equal(ticket.status, 201);

  // Not every machine resolves names under localhost, and fetch cannot send another Host header. Redeem the
  // ticket at the base URL instead, with the same path and query.
  const { origin, pathname, search } = new URL(ticket.body.redeem_url);
  const opened = await fetch(HOSTING_BASE_URL + pathname + search, { redirect: "manual" });
  assert.deepEqual([opened.status, opened.headers.get("location")], [303, `${origin}/`]);
  assert.match(opened.headers.get("set-cookie"), /^dev_access=/);
});

test("a new key works, but not outside its organization", async () => {
  const path = `/v1/organizations/${HOSTING_ORGANIZATION_ID}/user-api-keys`;
  const created = await call("POST", path, { key: randomUUID(), body: { name: "ci" } });
  assert.equal(created.status, 201);

  const token = created.body.value;
  assert.equal((await call("GET", `${project}/deployments?limit=1`, { token })).status, 200);
  const elsewhere = await call("GET", "/v1/projects/00000000000000000000000000/deployments", { token });
  assert.deepEqual([elsewhere.status, elsewhere.body.code], [404, "resource_not_found"]);
});
