// Tests of the helper emulator.mjs, and of the facts about clients that the guide states.

import assert from "node:assert/strict";
import { test } from "node:test";
import { freshWorld } from "./emulator.mjs";

async function withWorld(options, use) {
  const world = await freshWorld(options);
  try {
    await use(world);
  } finally {
    await world.close();
  }
}

test("each user has a token with the user's rights", () =>
  withWorld({}, async (world) => {
    const path = `/v1/projects/${world.projects.shop}/dev-access-tickets`;
    const headers = { Authorization: `Bearer ${await world.tokenOf("reader")}` };

    assert.equal((await world.fetch(path, { method: "POST", headers })).status, 403);
    assert.equal((await world.fetch(path, { method: "POST" })).status, 201);
    assert.deepEqual((await world.requests()).map(({ status }) => status), [201, 403]);
  }));

test("the clock is frozen until the test advances it", () =>
  withWorld({ token: { lifetime: "1h" } }, async (world) => {
    const path = `/v1/projects/${world.projects.shop}/deployments`;
    assert.equal((await world.fetch(path)).status, 200);

    await world.advance("1h");

    assert.equal((await world.fetch(path)).status, 401);
  }));

test("with the clock `skip`, a poll advances the clock", () =>
  withWorld({ clock: { mode: "skip" } }, async (world) => {
    const path = `/v1/projects/${world.projects.shop}/domains`;
    const started = await world.fetch(path, { method: "PUT", headers: { "Idempotency-Key": "one" } });
    const { id } = await started.json();
    const states = [];
    for (let polls = 0; polls < 5; polls++) {
      states.push((await (await world.fetch(`/v1/operations/${id}`)).json()).state);
    }

    assert.equal(states.at(-1), "succeeded");
  }));

test("a world starts with a scenario", () =>
  withWorld({ scenario: { name: "provider-outage" } }, async (world) => {
    assert.ok(world.organizations.acme);
  }));

test("a request whose URL lacks the world's path is refused", () =>
  withWorld({}, async (world) => {
    const path = `/v1/projects/${world.projects.shop}/deployments`;
    const headers = { Authorization: `Bearer ${world.token}` };

    assert.equal((await fetch(new URL(path, world.baseUrl), { headers })).status, 401);
    assert.equal((await fetch(world.url(path), { headers })).status, 200);
  }));

test("a ticket can be redeemed at the world's base URL", () =>
  withWorld({}, async (world) => {
    const path = `/v1/projects/${world.projects.shop}/dev-access-tickets`;
    const { redeem_url } = await (await world.fetch(path, { method: "POST" })).json();

    const { pathname, search } = new URL(redeem_url);
    const response = await world.fetch(pathname + search, { redirect: "manual" });

    assert.equal(response.status, 303);
  }));

test("the error for a refused control request gives the reason", () =>
  withWorld({}, async (world) => {
    await assert.rejects(world.tokenOf("nobody-here"), /nobody-here/);
  }));
