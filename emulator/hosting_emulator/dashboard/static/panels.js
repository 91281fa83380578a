// The table of panels, in the order of the navigation. A panel is loaded when it is first shown.

/** @typedef {{id: string, name: string, group: string, key: string, guide: string}} PanelRow */

/**
 * `id` is also the name of the file, `key` is pressed after `g`, and `guide` is a page of the manual.
 * @type {PanelRow[]}
 */
export const PANELS = [
  { id: "requests", name: "Requests", group: "Inspect", key: "r", guide: "what-happened" },
  { id: "operations", name: "Operations", group: "Inspect", key: "o", guide: "what-happened" },
  { id: "projects", name: "Projects", group: "Inspect", key: "p", guide: "service" },
  { id: "conduct", name: "Conduct", group: "Inspect", key: "d", guide: "check-your-client" },
  { id: "triggers", name: "Triggers", group: "Inspect", key: "w", guide: "failures" },
  { id: "clock", name: "Clock", group: "Control", key: "c", guide: "time-and-state" },
  { id: "faults", name: "Faults", group: "Control", key: "f", guide: "failures" },
  { id: "outcomes", name: "Outcomes", group: "Control", key: "u", guide: "failures" },
  { id: "scenarios", name: "Scenarios", group: "Control", key: "s", guide: "scenarios" },
  { id: "history", name: "History", group: "Control", key: "h", guide: "time-and-state" },
  { id: "interventions", name: "Interventions", group: "Control", key: "i", guide: "failures" },
  { id: "connect", name: "Connect", group: "Reference", key: "n", guide: "connect" },
  { id: "try", name: "API console", group: "Reference", key: "t", guide: "reference/calls" },
  { id: "problems", name: "Problems", group: "Reference", key: "e", guide: "reference/problems" },
  { id: "assumptions", name: "Assumptions", group: "Reference", key: "a", guide: "reference/assumptions" },
];

/** The panels that have been loaded, which can be shown again without waiting. @type {Map<string, any>} */
const loaded = new Map();

/** @param {PanelRow} row */
export async function loadPanel({ id }) {
  if (!loaded.has(id)) loaded.set(id, (await import(`./panels/${id}.js`)).default);
}

/** Load all other panels too, because the emulator may be gone when the user opens one later. */
export const loadOthers = () => PANELS.forEach((row) => void loadPanel(row).catch(() => {}));

/** @param {string} id */
export const loadedPanel = (id) => loaded.get(id);
