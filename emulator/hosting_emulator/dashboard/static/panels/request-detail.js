// One exchange in full: its trail, its request and response, and buttons to copy it as curl or to resend it.

import { inWorld, tokenOf } from "../api.js";
import { callName, curl } from "../calls.js";
import { html, useEffect, useRef } from "../lib.js";
import { StatusBadge, Button, CopyButton, Facts, Json, Loaded, Lost, MenuButton, Section, act } from "../parts.js";
import { findings, go, link, summary } from "../store.js";
import { problemPage, spoken, took } from "../words.js";

/** @param {{n: string, close: () => void, step: (by: number) => void, walking: {current: boolean}}} props */
export function RequestDetail({ n, close, step, walking }) {
  const heading = useRef(null);
  useEffect(() => {
    const { activeElement } = document;
    const list = walking.current;
    walking.current = false;
    if (list) return;
    if (activeElement?.closest(".requests, .detail") || activeElement === document.body) heading.current?.focus();
  }, []);
  return html`<${Section} kind="detail" heading=${heading} title=${`Request ${n}`} actions=${html`
      <${Button} small kind="quiet" label="Newer request" title="Newer (↑)" onClick=${() => step(-1)}>↑<//>
      <${Button} small kind="quiet" label="Older request" title="Older (↓)" onClick=${() => step(1)}>↓<//>
      <${Button} small kind="quiet" closes title="Close (Escape)" onClick=${close}>Close<//>`}>
    <${Loaded} from=${() => inWorld.get(`/requests/${n}`)} on=${["world"]}>${(item) => html`<${Whole} item=${item} />`}<//>
  <//>`;
}

function Whole({ item }) {
  return html`<div class="stack">
    <p class="row"><${StatusBadge} of=${item} /> <b>${callName(item.call)}</b> <${Lost} of=${item} />
      ${item.code && html`<a href=${problemPage(item.code)}>${item.code}</a>`}</p>
    ${(findings.value.of[item.n] ?? []).map((one) => html`<p key=${one.rule}><a href=${link("conduct")}>Conduct</a>: ${one.title}. <span class="quiet">${one.instead}</span></p>`)}
    <p class="mono">${item.method} ${item.path}${item.query && `?${item.query}`}</p>
    <div class="row"><${Acts} item=${item} /></div>
    <section aria-labelledby="why-title"><h3 id="why-title">Why</h3><${Trail} steps=${item.trail} /></section>
    <${Facts} of=${[
      ["At", html`<time datetime=${item.at}>${item.at}</time>`],
      ["User", item.user ?? item.user_id ?? "—"],
      item.operation && ["Operation", html`<a href=${link("operations", item.operation)}>${item.operation}</a>`],
      item.idempotency_key && ["Idempotency-Key", html`<code>${item.idempotency_key}</code>`],
      ["Took", took(item.duration_us)],
    ].filter(Boolean)} />
    <${Side} name="Request" of=${item.request} />
    ${item.status ? html`<${Side} name="Response" of=${item.response} />`
      : html`<section aria-label="Response" class="stack tight"><h3>Response</h3><p class="small quiet">No response reached the client.</p></section>`}
  </div>`;
}

function Trail({ steps }) {
  if (!steps.length) return html`<p class="quiet">No special decisions: the response follows the contract.</p>`;
  return html`<ol class="trail">
    ${steps.map((/** @type {any} */ { step, text }, /** @type {number} */ place) => html`<li key=${place} class=${`step ${step}${idle(step, text) ? " idle" : ""}`}>
      <span class="word">${spoken(step)}</span><span>${text}</span></li>`)}
  </ol>`;
}

/** Return whether a step only says that a fault did not act or was counted. @param {string} step @param {string} text */
const idle = (step, text) => step === "fault" && / did not act: |not match the request|^Commit /.test(text);

function Acts({ item }) {
  const again = (/** @type {boolean} */ same) => () => act(
    () => inWorld.post(`/requests/${item.n}/resend`, { same_key: same }),
    ({ n, status }) => `Resent as request ${n}: ${status || "the response was lost"}.`,
    ({ n }) => go("requests", n));
  return html`<${CopyButton} label="Copy as curl" text=${() => Promise.resolve(command(item))} />
    ${item.user_id && item.user && html`<${CopyButton} label="Copy with a fresh token" text=${async () => command(item, await tokenOf(item.user))} />`}
    ${item.idempotency_key
      ? html`<${MenuButton} small label="Resend"><div class="stack">
          <${Button} onClick=${again(false)}>With a new key<//><${Button} onClick=${again(true)}>With the same key<//></div><//>`
      : html`<${Button} small onClick=${again(false)}>Resend<//>`}`;
}

const LEFT_OUT = /^(x-emulator-own|host|authorization|user-agent|accept.*|content-length|connection|origin|referer|sec-.*|cookie)$/i;

function command(item, token) {
  const base = new URL(summary.peek()?.base_url ?? location.origin);
  const prefix = item.path.startsWith("/worlds/") ? base.origin : base.href.replace(/\/$/, "");
  const { headers, body } = item.request;
  const signed = headers.some(([name]) => name.toLowerCase() === "authorization");
  return curl({
    method: item.method,
    url: `${prefix}${item.path}${item.query ? `?${item.query}` : ""}`,
    token: token ?? (signed ? undefined : null),
    headers: headers.filter(([name]) => !LEFT_OUT.test(name)),
    body,
  });
}

function Side({ name, of }) {
  return html`<section aria-label=${name} class="stack tight">
    <h3>${name}</h3>
    <details><summary>${of.headers.length} headers</summary>
      <dl class="headers mono">${of.headers.map(([key, value], place) => html`<div key=${place}><dt>${key}</dt><dd>${value}</dd></div>`)}</dl>
    </details>
    ${of.body ? html`<${Json} label=${`${name}'s body`} value=${of.body} />` : html`<p class="small quiet">${of.body_cut ? "The body was not kept." : "No body."}</p>`}
    ${of.body && of.body_cut && html`<p class="small quiet">Truncated: the body has ${of.body_bytes.toLocaleString("en")} bytes.</p>`}
  </section>`;
}
