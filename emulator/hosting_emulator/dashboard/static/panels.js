// The table of panels, in the order of the navigation. A panel is loaded when it is first shown.

/** @typedef {{id: string, name: string, group: string, key: string, guide: string}} PanelRow */

/**
 * `id` is also the name of the file. `group` is also a section in the command line's help. `g` followed by `key` shows the
 * panel. `guide` is the page of the manual to which the panel links.
 * @type {PanelRow[]}
 */
export const PANELS = [
  { id: "requests", name: "Requests", group: "See what happened", key: "r", guide: "what-happened" },
  { id: "operations", name: "Operations", group: "See what happened", key: "o", guide: "what-happened" },
  { id: "triggers", name: "Triggers", group: "See what happened", key: "w", guide: "failures" },
  { id: "projects", name: "Projects", group: "See what happened", key: "p", guide: "service" },
  { id: "clock", name: "Clock", group: "Change the world", key: "c", guide: "time-and-state" },
  { id: "faults", name: "Faults", group: "Change the world", key: "f", guide: "failures" },
  { id: "outcomes", name: "Outcomes", group: "Change the world", key: "u", guide: "failures" },
  { id: "interventions", name: "Interventions", group: "Change the world", key: "i", guide: "failures" },
  { id: "scenarios", name: "Scenarios", group: "Change the world", key: "s", guide: "scenarios" },
  { id: "history", name: "History", group: "Change the world", key: "h", guide: "time-and-state" },
  { id: "conduct", name: "Conduct", group: "Check a client", key: "d", guide: "check-your-client" },
  { id: "connect", name: "Connect", group: "Connect a client", key: "n", guide: "connect" },
  { id: "try", name: "API console", group: "The contract", key: "t", guide: "reference/calls" },
  { id: "problems", name: "Problems", group: "The contract", key: "e", guide: "reference/problems" },
  { id: "assumptions", name: "Assumptions", group: "The contract", key: "a", guide: "reference/assumptions" },
];

/** The panels that have been loaded. They can be shown without waiting. @type {Map<string, any>} */
const loaded = new Map();

/** @param {PanelRow} row */
export async function loadPanel({ id }) {
  if (!loaded.has(id)) loaded.set(id, (await import(`./panels/${id}.js`)).default);
}

/** Load all other panels in advance, because the emulator may have stopped when the user opens one. */
export const loadOthers = () => PANELS.forEach((row) => void loadPanel(row).catch(() => {}));

/** @param {string} id */
export const loadedPanel = (id) => loaded.get(id);
