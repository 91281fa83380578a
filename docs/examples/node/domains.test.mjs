import assert from "node:assert/strict";
import test from "node:test";
import { freshWorld } from "./emulator.mjs";

test("domains are applied", async (t) => {
  const world = await freshWorld();
  t.after(() => world.close());

  const response = await world.fetch(`/v1/projects/${world.projects.shop}/domains`, {
    method: "PUT",
    headers: { "Idempotency-Key": "domains-1" },
  });

  assert.equal(await world.until(await response.json()), "succeeded");
});
