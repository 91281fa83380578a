// The attacks that a web page from another site can try in a real browser. `target` is the emulator's
// address, `token` a valid access token (anyone who knows the seed can create one), and `project` a
// project's id. Returns {name: outcome}, in which an outcome is "blocked", "opaque", "loaded" or, if the
// page could read the response, {status, text}.
(async ({ target, token, project }) => {
  const control = `${target}/_emulator`;
  const flag = `${target}/v1/projects/${project}/powered-by-flag`;
  const bearer = { Authorization: `Bearer ${token}` };
  const json = { "Content-Type": "application/json" };
  const outcomes = {};

  const attempt = async (name, url, options) => {
    try {
      const response = await fetch(url, options);
      outcomes[name] =
        response.type === "opaque" ? "opaque" : { status: response.status, text: await response.text() };
    } catch {
      outcomes[name] = "blocked";
    }
  };
  const requests = [
    ["read the state", `${control}/worlds/default/state`, {}],
    ["read the state without CORS", `${control}/worlds/default/state`, { mode: "no-cors" }],
    ["read a page", control, { credentials: "include" }],
    ["read the log", `${control}/worlds/default/requests`, { headers: { Accept: "*/*" } }],
    ["make a world (simple)", `${control}/worlds`, { method: "POST", body: '{"name":"theirs"}' }],
    ["make a world (preflighted)", `${control}/worlds`,
      { method: "POST", headers: json, body: '{"name":"theirs"}' }],
    ["reset without CORS", `${control}/worlds/default/reset`, { method: "POST", mode: "no-cors" }],
    ["delete faults", `${control}/worlds/default/faults`, { method: "DELETE" }],
    ["stop time", `${control}/worlds/default/clock`, { method: "PUT", body: '{"mode":"real"}' }],
    ["sign in", `${control}/idp/token`,
      { method: "POST", body: new URLSearchParams("grant_type=password&username=owner") }],
    ["sign in without CORS", `${control}/idp/token`, { method: "POST", mode: "no-cors",
      body: new URLSearchParams("grant_type=password&username=owner") }],
    ["read the keys", `${control}/idp/jwks.json`, {}],
    ["call with a token", `${target}/v1/projects/${project}/deployments`, { headers: bearer }],
    ["change with a token", flag, { method: "PUT", body: '{"enabled":false}',
      headers: { ...bearer, ...json, "Idempotency-Key": "theirs" } }],
    ["call without CORS", flag, { method: "POST", mode: "no-cors" }],
  ];
  for (const request of requests) await attempt(...request);

  const element = (name, tag, attributes, loads = true) =>
    new Promise((done) => {
      const added = Object.assign(document.createElement(tag), attributes);
      added.onerror = () => done((outcomes[name] = "blocked"));
      added.onload = () => done((outcomes[name] = loads ? "loaded" : "opaque"));
      document.body.append(added);
    });
  await element("as an image", "img", { src: `${control}/docs/style.css` });
  await element("as a script", "script", { src: `${control}/info` });
  await element("as a style", "link", { rel: "stylesheet", href: `${control}/docs/style.css` });

  const framed = Object.assign(document.createElement("iframe"), { src: control, name: "frame" });
  const inFrame = () => {
    try {
      return framed.contentDocument?.body?.innerText ?? "opaque";
    } catch {
      return "opaque";
    }
  };
  const shown = () => new Promise((done) => (framed.onload = done));
  let waiting = shown();
  document.body.append(framed);
  await waiting;
  outcomes["in a frame"] = inFrame();

  const form = Object.assign(document.createElement("form"), {
    action: `${control}/worlds/default/reset`, method: "POST", target: "frame",
  });
  document.body.append(form);
  waiting = shown();
  form.submit();
  await waiting;
  outcomes["by a form"] = inFrame();

  navigator.sendBeacon(`${control}/worlds/default/reset`, "");

  const events = new EventSource(`${control}/worlds/default/events`);
  outcomes["by server-sent events"] = await new Promise((done) => {
    events.onopen = () => done("loaded");
    events.onerror = () => done("blocked");
  });
  events.close();

  const socket = new WebSocket(`${control.replace("http", "ws")}/worlds/default/events`);
  outcomes["by a websocket"] = await new Promise((done) => {
    socket.onopen = () => done("loaded");
    socket.onerror = () => done("blocked");
  });

  await attempt("after the beacon", `${control}/health`, { mode: "no-cors" });
  return outcomes;
})
