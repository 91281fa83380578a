// The bar at the top: the world, its time, and the state of the connection to the emulator.

import { html, signal } from "./lib.js";
import { helpShown } from "./keys.js";
import { Select } from "./parts.js";
import { WorldsMenu } from "./worlds-menu.js";
import { clock, connection, go, link, nowMs, route, world, worlds } from "./store.js";

export const TopBar = () => html`<header class="bar">
  <a class="row name" href=${link("requests")}><span class="logo" aria-hidden="true"></span>hosting-emulator</a>
  <${WorldPicker} />
  <${WorldsMenu} />
  <${Clock} />
  <span class="space"></span>
  <${Connection} />
  <${ThemeButton} />
  <button type="button" class="button quiet round" aria-label="Keys" title="Keys (?)" onClick=${() => (helpShown.value = true)}>?</button>
</header>`;

function WorldPicker() {
  const names = worlds.value.map(({ name }) => name);
  if (!names.includes(world.value)) names.push(world.value);
  return html`<label class="row quiet small picker"><span>World</span>
    <${Select} value=${world.value} choices=${names.map((name) => ({ value: name, label: name }))}
      set=${(name) => go(route.value.panel, "", {}, { world: name })} />
  </label>`;
}

/** The ticking clock. It is not in a live region, so screen readers read it only on request. */
function Clock() {
  const worldClock = clock.value;
  if (!worldClock) return html`<span class="row number clock quiet">…</span>`;
  const [day, time] = new Date(nowMs.value).toISOString().slice(0, 19).split("T");
  const mode = worldClock.mode === "scaled" ? `${worldClock.rate}×` : worldClock.mode;
  const stale = connection.value === "lost";
  return html`<a class=${`row number clock${stale ? " quiet" : ""}`} href=${link("clock")} title=${stale ? "The world's clock, as last seen" : "The world's clock"}>
    <span class="visually-hidden">Clock: </span>
    <time datetime=${`${day}T${time}Z`}><span class="day">${day}</span> ${time}</time>
    <span class=${`badge ${worldClock.mode === "real" ? "calm" : "busy"}`}>${mode}</span>
  </a>`;
}

const SAYS = { live: "Live", connecting: "Connecting…", lost: "Reconnecting…" };

function Connection() {
  const state = connection.value;
  return html`<span class=${`row quiet small connection ${state}`} role="status"><span class="dot" aria-hidden="true"></span><span class="word">${SAYS[state]}</span></span>`;
}

const THEMES = /** @type {const} */ (["system", "light", "dark"]);
const KEPT = "hosting-emulator.theme";
/** @type {import("./vendor/signals.js").Signal<string>} */
export const theme = signal(document.documentElement.dataset.theme ?? "system");

function ThemeButton() {
  const next = THEMES[(THEMES.indexOf(/** @type {any} */ (theme.value)) + 1) % THEMES.length];
  const turn = () => {
    theme.value = next;
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      if (next === "system") localStorage.removeItem(KEPT);
      else localStorage.setItem(KEPT, next);
    } catch {
      // Without storage, the choice lasts until the user leaves the page.
    }
  };
  return html`<button type="button" class="button quiet round" title=${`Colors: ${theme.value}. Press for ${next}.`}
    aria-label=${`Colors: ${theme.value}; change to ${next}`} onClick=${turn}><span class=${`sun ${theme.value}`} aria-hidden="true"></span></button>`;
}
