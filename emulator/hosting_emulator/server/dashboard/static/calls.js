// The calls of the contract, as the page sends them.

/**
 * @typedef {{id: string, says: string, method: string, path: string, key?: boolean, body?: any, query?: string}} Call
 * @type {Call[]}
 */
export const CALLS = [
  { id: "initialize_managed_source", says: "Initialize managed source", method: "POST", path: "/v1/projects/{project_id}/source:initialize", key: true, body: { expected_source_generation: 0 } },
  { id: "apply_project_domains", says: "Apply project domains", method: "PUT", path: "/v1/projects/{project_id}/domains", key: true },
  { id: "get_operation", says: "Poll an operation", method: "GET", path: "/v1/operations/{operation_id}" },
  { id: "list_deployments", says: "List deployments", method: "GET", path: "/v1/projects/{project_id}/deployments", query: "limit=5" },
  { id: "set_project_powered_by_flag", says: "Show or hide the flag", method: "PUT", path: "/v1/projects/{project_id}/powered-by-flag", key: true, body: { enabled: true } },
  { id: "get_dns_authorization", says: "Get DNS authorization", method: "GET", path: "/v1/projects/{project_id}/edge-dns" },
  { id: "read_database_compute", says: "Read database compute", method: "GET", path: "/v1/projects/{project_id}/database/compute", query: "environment=dev" },
  { id: "create_dev_access_ticket", says: "Create dev access ticket", method: "POST", path: "/v1/projects/{project_id}/dev-access-tickets" },
  { id: "create_user_api_key", says: "Create user API key", method: "POST", path: "/v1/organizations/{organization_id}/user-api-keys", key: true, body: { name: "from the page" } },
];

/** What else a request can be. @type {Record<string, string>} */
const MORE = { redeem_ticket: "Redeem a ticket" };

/** What a call is called. @param {string | null} id */
export const callName = (id) => CALLS.find((call) => call.id === id)?.says ?? MORE[id ?? ""] ?? id ?? "No call";

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * A request as a curl command; `$HOSTING_TOKEN` stands for the token unless one is given.
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
