// Assumptions: what the emulator does where the contract is silent, and which assumptions were changed.
import { html, useState } from "../lib.js";
import { inWorld } from "../api.js";
import { useResource } from "../resource.js";
import { act, Badge, Button, Panel, Section, Select, Shown, surely } from "../parts.js";
import { prose, toTitle, useFind } from "./find.js";

export default function Assumptions() {
  const all = useResource(() => inWorld.get("/assumptions"), { on: ["commit", "world"] });
  const changed = (all.data?.items ?? []).filter(isChanged);
  /** @param {Record<string, any>} values @param {string} said */
  const set = (values, said) => act(() => inWorld.patch("/assumptions", values), said, all.reload);
  const resetAll = () => {
    const text = `Reset ${changed.length === 1 ? "the changed one" : `all ${changed.length} changed ones`} to the default?`;
    const defaults = Object.fromEntries(changed.map((item) => [item.name, item.default]));
    return surely({ title: "Reset assumptions", text, yes: "Reset" },
      () => inWorld.patch("/assumptions", defaults), "All assumptions are at their defaults.", () => all.reload().then(toTitle));
  };
  const actions = changed.length > 0 && html`<${Button} onClick=${resetAll}>Reset all (${changed.length})<//>`;
  return html`<${Panel} title="Assumptions" actions=${actions}
    lead="Assumptions: what the emulator does where the contract is silent. A client should work with any of them.">
    <${Shown} of=${all}>${(data) => html`<${List} items=${data.items} set=${set} />`}<//>
  <//>`;
}

const isChanged = (item) => textOf(item.value) !== textOf(item.default);

/** Return a value as text that the emulator can parse. @param {any} value @returns {string} */
function textOf(value) {
  if (Array.isArray(value)) return value.join(",");
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value).map(([code, status]) => `${code}=${status}`).join(",");
}

/** Return the values that the user can choose from. Values that contradict the contract are marked. @param {any} item */
function choicesOf(item) {
  return [item.default, ...item.alternatives].map(textOf).map((value) => {
    const outside = item.outside_the_letter.includes(value);
    return { value, label: outside ? `${value} (contradicts the contract)` : value };
  });
}

/** @param {{items: any[], set: (values: any, said: string) => Promise<any>}} props */
function List({ items, set }) {
  const { field, matches } = useFind(items, (item) => `${item.name} ${item.about} ${item.sentence}`);
  // Changed assumptions come first when the panel opens. After that, no row moves.
  const [places] = useState(() => [...items].sort((a, b) => Number(isChanged(b)) - Number(isChanged(a))).map(({ name }) => name));
  const rows = matches.sort((a, b) => places.indexOf(a.name) - places.indexOf(b.name));
  return html`<${Section} title="All assumptions">
    ${field}
    <p class="quiet">${rows.length} of ${items.length}; ${items.filter(isChanged).length} changed</p>
    <ul class="assumptions">${rows.map((item) => html`<${Row} key=${item.name} item=${item} set=${set} />`)}</ul>
  <//>`;
}

function Row({ item, set }) {
  const value = textOf(item.value);
  /** The text that the user is typing. Otherwise, the field shows the current value, even if another client set it. */
  const [typed, type] = useState(null);
  if (typed === value) type(null);
  const draft = typed ?? value;
  const changed = isChanged(item);
  const id = `assumption-${item.name}`;
  const change = (to) => set({ [item.name]: to }, `${item.name} is ${textOf(to) || "empty"}.`);
  const reset = () => change(item.default).then(() => document.getElementById(id)?.focus());
  return html`<li class=${changed ? "changed" : ""} data-name=${item.name}>
    <div class="assumption-name"><label for=${id}><code>${item.name}</code></label> ${changed && html`<${Badge} tone="warn">changed<//>`}</div>
    <form class="row" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); change(draft); }}>
      ${item.fixed ? html`<p id=${id}>Cannot be set: ${prose(item.fixed)}.</p>` : Array.isArray(item.alternatives)
        ? html`<${Select} id=${id} value=${value} set=${change} choices=${choicesOf(item)} />`
        : html`<input id=${id} class=${value.length > 30 ? "long" : undefined} value=${draft} onInput=${(event) => type(event.currentTarget.value)} />
            <${Button} small label=${`Set ${item.name}`} disabled=${draft === value} onClick=${() => change(draft)}>Set<//>`}
      ${changed && html`<${Button} small kind="quiet" label=${`Reset ${item.name}`} onClick=${reset}>Reset<//>`}
    </form>
    <p>${prose(item.about)}</p>
    ${item.warning && html`<p role="status"><${Badge} tone="warn">contradicts the contract<//> ${item.warning}</p>`}
    ${item.contradicts && !item.warning && html`<p class="quiet small">Contradicts the contract: ${item.outside_the_letter.join(", ")}.</p>`}
    <p class="quiet small">${changed && html`Default: <code>${textOf(item.default) || "none"}</code>. `}Where the contract is silent: “${item.sentence}”</p>
  </li>`;
}
