// Everything around a panel: the bar with the world, the clock and the connection state, the navigation, and more.

import { Fragment, html, useEffect, useRef, useState } from "./lib.js";
import { TopBar } from "./bar.js";
import { KEYS, helpShown } from "./keys.js";
import { Dialog, DialogRegion, Failure, Loading, ToastRegion } from "./parts.js";
import { PANELS, loadOthers, loadPanel, loadedPanel } from "./panels.js";
import { findings, link, listen, live, refresh, route, said, stopped, trouble, unfinished, world } from "./store.js";

export function Frame() {
  return html`<${Fragment}>
    <a class="skip" href="#panel-title" onClick=${skip}>Skip to content</a>
    <${TopBar} />
    ${stopped.value && html`<p class="stopped" role="alert">Emulator stopped, reconnecting… <span>Showing the last known state.</span></p>`}
    <div class="frame">
      <${Navigation} />
      <main id="main"><${Current} /></main>
    </div>
    <${ToastRegion} />
    <p class="visually-hidden" role="status">${said.value}</p>
    <${DialogRegion} />
    <${Keys} />
  <//>`;
}

function skip(event) {
  event.preventDefault(); // Do not change the hash, because it is the address of a panel.
  document.getElementById("panel-title")?.focus();
}

/** The meaning of the count next to a panel's name. @type {Record<string, string>} */
const COUNTED = { faults: "armed", operations: "in progress", conduct: "found" };

function Navigation() {
  const { panel } = route.value;
  const groups = [...new Set(PANELS.map(({ group }) => group))];
  /** @type {Record<string, number>} */
  const counts = { faults: live.value.length, operations: unfinished.value.length, conduct: findings.value.count };
  const nav = useRef(null);
  useEffect(() => {
    const { current } = nav; // In a narrow window, the navigation is a single line that scrolls.
    if (!current || current.scrollWidth <= current.clientWidth) return;
    current.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [panel]);
  return html`<nav ref=${nav} class="side" aria-label="Panels">
    ${groups.map(
      (group, index) => html`<div key=${group} class="group">
        <h2 id=${`nav-${index}`}>${group}</h2>
        <ul aria-labelledby=${`nav-${index}`}>
          ${PANELS.filter((row) => row.group === group).map(
            ({ id, name }) => html`<li key=${id}>
              <a href=${link(id)} aria-current=${id === panel ? "page" : undefined}>
                ${name}${counts[id] ? html`<span class="count" aria-label=${`, ${counts[id]} ${COUNTED[id]}`}>${counts[id]}</span>` : null}
              </a>
            </li>`,
          )}
          ${group === "The contract" && html`<li><a href="/_emulator/docs">Manual and API</a></li>`}
        </ul>
      </div>`,
    )}
  </nav>`;
}

function Current() {
  const { panel, arg, query } = route.value;
  const row = PANELS.find(({ id }) => id === panel);
  const [, arrived] = useState(0);
  const [error, setError] = useState(null);
  const load = () => {
    setError(null);
    if (row) loadPanel(row).then(() => arrived((turn) => turn + 1), setError).then(loadOthers);
  };
  useEffect(load, [panel]);
  useEffect(() => listen("gap", load), [panel]);
  useFocusOnChange(panel, Boolean(loadedPanel(panel)));

  if (!row) return html`<${Missing} title="No such panel" text=${`There is no panel ${panel}.`} />`;
  if (trouble.value?.status === 404) {
    return html`<${Missing} title=${`There is no world ${world.value}`} text="It may have been deleted." />`;
  }
  const Component = loadedPanel(panel);
  if (error && !Component) return html`<${Failure} error=${error} again=${load} />`;
  if (!Component) return html`<${Loading} />`;
  return html`${trouble.value && !stopped.value && html`<${Failure} error=${trouble.value} again=${refresh} />`}
    <${Component} key=${`${panel} ${world.value}`} arg=${arg} query=${query} />`;
}

const Missing = ({ title, text }) => html`<h1 id="panel-title" tabindex="-1">${title}</h1>
  <p>${text} <a href=${link("requests", "", {}, "default")}>Go to the default world.</a></p>`;

/** Move the focus to the heading of a new panel, as a browser does on a new page. @param {string} panel @param {boolean} there */
function useFocusOnChange(panel, there) {
  const before = useRef("");
  useEffect(() => {
    if (!there) return;
    const name = PANELS.find(({ id }) => id === panel)?.name ?? "";
    document.title = `${name} - hosting-emulator`;
    if (before.current && before.current !== panel) {
      document.getElementById("panel-title")?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    before.current = panel;
  }, [panel, there]);
}

function Keys() {
  const close = () => (helpShown.value = false);
  return helpShown.value && html`<${Dialog} kind="keys" title="Keys" closed=${close}>
    <dl>${KEYS.map(([key, what]) => html`<div key=${key}><dt>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl>
    <div class="row end"><button type="button" class="button" onClick=${close}>Close</button></div>
  <//>`;
}
