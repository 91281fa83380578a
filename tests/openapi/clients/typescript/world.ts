// Uses the control API from TypeScript: creates a world with a token, advances its clock, arms a fault, reads the
// request log, and deletes the world.

import createClient from "openapi-fetch";
import type { paths } from "./control.js";

const url = process.env.HOSTING_EMULATOR_URL ?? "http://127.0.0.1:4620";
const control = createClient<paths>({ baseUrl: `${url}/_emulator` });

const world = await control.POST("/worlds", { body: { clock: { mode: "frozen" }, token: {} } });
if (!world.data) throw new Error(world.error.detail);
const { name, base_url, projects, token } = world.data;
const named = { params: { path: { world: name } } };
const headers = { Authorization: `Bearer ${token?.access_token}`, "Idempotency-Key": "one" };

const domains = `${base_url}/v1/projects/${projects[0]?.id}/domains`;
const operation = (await (await fetch(domains, { method: "PUT", headers })).json()) as { id: string };

const moved = await control.POST("/worlds/{world}/clock/advance", {
  ...named,
  body: { until_operation: operation.id },
});
console.log(`time moved by ${moved.data?.moved_ms} ms`);

const fault = await control.POST("/worlds/{world}/faults", {
  ...named,
  body: { abort: { code: "service_unavailable" }, times: 1 },
});
console.log(`${fault.data?.id} is armed`);
const refused = await fetch(domains, { method: "PUT", headers: { ...headers, "Idempotency-Key": "two" } });

const log = await control.GET("/worlds/{world}/requests", {
  params: { path: { world: name }, query: { limit: 5, trail: false } },
});
console.log(refused.status, log.data?.items.map(({ method, status }) => `${method} ${status}`));

const nothing = await control.GET("/worlds/{world}", { params: { path: { world: "nothing" } } });
console.log(nothing.error?.detail);
await control.DELETE("/worlds/{world}", named);
