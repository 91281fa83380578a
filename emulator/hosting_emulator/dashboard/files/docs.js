// Shows the calls of the contract in Swagger UI, where users can try them out. Swagger UI receives the OpenAPI document of
// a world, with examples from this world, and a token for the chosen user.

import { api, pageHeader } from "./dashboard/api.js";
import { drawCalls } from "./swagger-mend.js";

const field = (id) => document.getElementById(id);
const below = (name) => `/worlds/${encodeURIComponent(name)}`;

const say = (text, wrong = false) => {
  field("said").textContent = text;
  field("said").classList.toggle("wrong", wrong);
};

const choices = (select, rows) =>
  select.replaceChildren(...rows.map(([value, label]) => new Option(label, value)));

/** The placeholder in the field for the Idempotency-Key. Each request replaces it with a new key. */
const NEW_KEY = "new-for-each-request";

/** The values for parameters that have no example in the document. */
const known = { environment: "dev", "Idempotency-Key": NEW_KEY };

const filled = (spec) => {
  const calls = Object.values(spec.paths).flatMap((path) => Object.values(path));
  for (const parameter of calls.flatMap((call) => call.parameters ?? [])) {
    if (known[parameter.name]) parameter.example = known[parameter.name];
  }
  return spec;
};

/** Replace the placeholder with a new Idempotency-Key. A key that the user has entered is left unchanged. */
const withNewKey = (request) => {
  if (!request.loadSpec) Object.assign(request.headers, ownHeader);
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === NEW_KEY) request.headers[name] = `docs-${crypto.getRandomValues(new Uint32Array(3)).join("-")}`;
  }
  return request;
};

let shown;
let world;
/** The header that marks a request as sent from this page, so that the rules of conduct skip it. */
let ownHeader = {};

const show = async (name) => {
  const path = below(name);
  const [found, spec, header] = await Promise.all([api.get(path), api.get(`${path}/openapi.json`), pageHeader()]);
  world = found;
  ownHeader = header;
  const before = field("user").value || "owner";
  choices(
    field("user"),
    [...world.users.map(({ alias, name: full }) => [alias, `${full} (${alias})`]), ["", "Nobody: no token"]],
  );
  if (world.users.some(({ alias }) => alias === before)) field("user").value = before;
  await new Promise((done) => {
    shown = drawCalls({ spec: filled(spec), requestInterceptor: withNewKey, onComplete: done });
  });
  await signIn(field("user").value);
};

const signIn = async (user) => {
  // Swagger UI's logout fails if nobody is logged in.
  if (shown.authSelectors.authorized()?.size) shown.authActions.logout(["bearer"]);
  if (!user) {
    say("Requests are sent without a token.");
    return;
  }
  const found = await api.post(`${below(world.name)}/tokens`, { user });
  shown.preauthorizeApiKey("bearer", found.access_token);
  say(`Requests carry a token of ${user} until ${found.expires_at} (world time).`);
};

/** Run one task at a time. If it fails, show the error, and leave the page unchanged. */
let last = Promise.resolve();
const inTurn = (work) => {
  last = last.then(work).catch((error) => say(error.message, true));
  return last;
};

field("sign-in").hidden = false;
field("sign-in").addEventListener("submit", (event) => event.preventDefault());
field("world").addEventListener("change", ({ target }) => inTurn(() => show(target.value)));
field("user").addEventListener("change", ({ target }) => inTurn(() => signIn(target.value)));
inTurn(async () => {
  const names = (await api.get("/worlds")).items.map(({ name }) => name);
  choices(field("world"), names.map((name) => [name, name]));
  await show(new URLSearchParams(location.search).get("world") ?? names[0]);
  field("world").value = world.name;
});
