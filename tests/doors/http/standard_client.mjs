// Signs a user in to an application with openid-client (version 5 or 6), as described in its manual. Instead of a
// user in a browser, fetch opens the sign-in page, submits the choice of `owner`, and reads the redirect.
import assert from "node:assert/strict";

const [version, issuer, callback, call] = process.argv.slice(2);
const client = await import("openid-client");
const scope = "openid profile email offline_access";

const choose = async (url) => {
  const page = await (await fetch(url)).text();
  const text = (html) =>
    html.replaceAll("&quot;", '"').replaceAll("&#x27;", "'").replaceAll("&amp;", "&");
  const form = new URLSearchParams();
  for (const [, name, value] of page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)) {
    form.append(text(name), text(value));
  }
  const owner = /<button name="choice" value="([^"]+)">\s*<b>[^<]*<\/b><span><code>owner</;
  form.append("choice", page.match(owner)[1]);
  const options = { method: "POST", body: form, redirect: "manual" };
  return (await fetch(`${issuer}/authorize`, options)).headers.get("location");
};

const checkTokens = async (token, renewed, claims, userInfo) => {
  assert.equal(claims.preferred_username, "owner");
  assert.equal(userInfo.sub, claims.sub);
  const response = await fetch(call, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(response.status, 200);
  assert.ok(renewed.access_token);
  console.log("signed in");
};

if (version === "6") {
  const config = await client.discovery(new URL(issuer), "web-app", undefined, client.None(), {
    execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
  });
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback, scope, state: expectedState, nonce: expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const back = new URL(await choose(url));
  const checks = { pkceCodeVerifier, expectedState, expectedNonce };
  const tokens = await client.authorizationCodeGrant(config, back, checks);
  const userInfo = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
  const renewed = await client.refreshTokenGrant(config, tokens.refresh_token);
  await checkTokens(tokens.access_token, renewed, tokens.claims(), userInfo);
} else {
  const { Issuer, generators } = client;
  const provider = await Issuer.discover(issuer);
  const app = new provider.Client({
    client_id: "web-app", redirect_uris: [callback], response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
  const [code_verifier, state, nonce] = [
    generators.codeVerifier(), generators.state(), generators.nonce(),
  ];
  const url = app.authorizationUrl({
    scope, state, nonce, code_challenge_method: "S256",
    code_challenge: generators.codeChallenge(code_verifier),
  });
  const params = app.callbackParams(await choose(url));
  const tokens = await app.callback(callback, params, { code_verifier, state, nonce });
  const userInfo = await app.userinfo(tokens);
  const renewed = await app.refresh(tokens);
  await checkTokens(tokens.access_token, renewed, tokens.claims(), userInfo);
}
