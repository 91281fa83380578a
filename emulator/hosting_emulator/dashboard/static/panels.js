// The table of panels, in the order of the navigation. A panel is loaded when it is first shown.

/** @typedef {{id: string, name: string, group: string, key: string}} PanelRow */

/** `id` is also the name of the file, and `key` is pressed after `g`. @type {PanelRow[]} */
export const PANELS = [
  { id: "requests", name: "Requests", group: "Inspect", key: "r" },
  { id: "operations", name: "Operations", group: "Inspect", key: "o" },
  { id: "projects", name: "Projects", group: "Inspect", key: "p" },
  { id: "conduct", name: "Conduct", group: "Inspect", key: "d" },
  { id: "triggers", name: "Triggers", group: "Inspect", key: "w" },
  { id: "clock", name: "Clock", group: "Control", key: "c" },
  { id: "faults", name: "Faults", group: "Control", key: "f" },
  { id: "outcomes", name: "Outcomes", group: "Control", key: "u" },
  { id: "scenarios", name: "Scenarios", group: "Control", key: "s" },
  { id: "history", name: "History", group: "Control", key: "h" },
  { id: "interventions", name: "Interventions", group: "Control", key: "i" },
  { id: "connect", name: "Connect", group: "Reference", key: "n" },
  { id: "try", name: "API console", group: "Reference", key: "t" },
  { id: "problems", name: "Problems", group: "Reference", key: "e" },
  { id: "assumptions", name: "Assumptions", group: "Reference", key: "a" },
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
