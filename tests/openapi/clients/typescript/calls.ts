// Makes every call of the API with a client that is generated from the served OpenAPI document, and prints the
// results. There are no casts, so the program compiles only if the document declares everything that it uses.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Schemas = components["schemas"];

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

const project_id = setting("PROJECT_ID");
const organization_id = setting("ORGANIZATION_ID");
const client = createClient<paths>({
  baseUrl: setting("BASE_URL"),
  headers: { Authorization: `Bearer ${setting("TOKEN")}` },
});

let keys = 0;
const keyed = () => ({ "Idempotency-Key": `typescript-${++keys}` });

/** Return the data of a successful response. Throws an error with the code and detail of a problem. */
function successful<T>(result: { data?: T; error?: Schemas["ProblemDetails"]; response: Response }): T {
  if (result.error !== undefined) throw new Error(`${result.error.code}: ${result.error.detail}`);
  if (result.data === undefined) throw new Error(`no data: ${result.response.status}`);
  return result.data;
}

async function polled(first: Schemas["Operation"]): Promise<Schemas["Operation"]> {
  let operation = first;
  for (let polls = 0; polls < 20; polls++) {
    if (["succeeded", "failed", "cancelled"].includes(operation.state)) return operation;
    operation = successful(
      await client.GET("/v1/operations/{operation_id}", {
        params: { path: { operation_id: operation.id } },
      }),
    );
  }
  throw new Error("the operation did not end");
}

const flag = successful(
  await client.PUT("/v1/projects/{project_id}/powered-by-flag", {
    params: { path: { project_id }, header: keyed() },
    body: { enabled: false },
  }),
);
const source = await polled(
  successful(
    await client.POST("/v1/projects/{project_id}/source:initialize", {
      params: { path: { project_id }, header: keyed() },
      body: { expected_source_generation: 1 },
    }),
  ),
);
const key = successful(
  await client.POST("/v1/organizations/{organization_id}/user-api-keys", {
    params: { path: { organization_id }, header: keyed() },
    body: { name: "typescript" },
  }),
);
const domains = await polled(
  successful(
    await client.PUT("/v1/projects/{project_id}/domains", {
      params: { path: { project_id }, header: keyed() },
    }),
  ),
);
const dns = successful(
  await client.GET("/v1/projects/{project_id}/edge-dns", { params: { path: { project_id } } }),
);
const first = successful(
  await client.GET("/v1/projects/{project_id}/deployments", {
    params: { path: { project_id }, query: { limit: 2 } },
  }),
);
const second = successful(
  await client.GET("/v1/projects/{project_id}/deployments", {
    params: {
      path: { project_id },
      query: first.next_cursor ? { cursor: first.next_cursor, limit: 2 } : {},
    },
  }),
);
const ticket = successful(
  await client.POST("/v1/projects/{project_id}/dev-access-tickets", {
    params: { path: { project_id } },
  }),
);
const compute = successful(
  await client.GET("/v1/projects/{project_id}/database/compute", {
    params: { path: { project_id }, query: { environment: "prod" } },
  }),
);
const missing = await client.GET("/v1/projects/{project_id}/edge-dns", {
  params: { path: { project_id: "0".repeat(26) } },
});

console.log(
  JSON.stringify({
    flag: flag.enabled,
    source: [source.state, source.deployment_id, source.result],
    key: [key.replayed, key.value, key.key.name],
    domains: [domains.state, domains.result],
    dns: [dns.status, dns.zone],
    deployments: [...first.items, ...second.items].map((deployment) => deployment.id),
    ticket: [ticket.origin, ticket.redeem_url],
    compute: [compute.environment, compute.database?.min_cu],
    problem: [missing.response.status, missing.error?.code, missing.error?.retryable],
  }),
);
