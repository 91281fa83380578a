// The table of panels: in the order of the navigation, each loaded when it is first shown.

/**
 * @typedef {{id: string, name: string, group: string, key: string,
 *   load: () => Promise<{default: (props: {arg: string, query: Record<string, string>}) => any}>}} PanelRow
 */

/** `key` follows `g`. @type {PanelRow[]} */
export const PANELS = [
  { id: "requests", name: "Requests", group: "Inspect", key: "r", load: () => import("./panels/requests.js") },
  { id: "operations", name: "Operations", group: "Inspect", key: "o", load: () => import("./panels/operations.js") },
  { id: "projects", name: "Projects", group: "Inspect", key: "p", load: () => import("./panels/projects.js") },
  { id: "conduct", name: "Client checks", group: "Inspect", key: "d", load: () => import("./panels/conduct.js") },
  { id: "clock", name: "Clock", group: "Control", key: "c", load: () => import("./panels/clock.js") },
  { id: "faults", name: "Faults", group: "Control", key: "f", load: () => import("./panels/faults.js") },
  { id: "outcomes", name: "Outcomes", group: "Control", key: "u", load: () => import("./panels/outcomes.js") },
  { id: "scenarios", name: "Scenarios", group: "Control", key: "s", load: () => import("./panels/scenarios.js") },
  { id: "history", name: "History", group: "Control", key: "h", load: () => import("./panels/history.js") },
  { id: "interventions", name: "Interventions", group: "Control", key: "i", load: () => import("./panels/interventions.js") },
  { id: "connect", name: "Connect", group: "Reference", key: "n", load: () => import("./panels/connect.js") },
  { id: "try", name: "API console", group: "Reference", key: "t", load: () => import("./panels/try.js") },
  { id: "problems", name: "Errors", group: "Reference", key: "e", load: () => import("./panels/problems.js") },
  { id: "assumptions", name: "Settings", group: "Reference", key: "a", load: () => import("./panels/assumptions.js") },
];

/** Those that have been loaded stay: showing them again waits for nothing. @type {Map<string, any>} */
const loaded = new Map();

/** @param {PanelRow} row */
export async function loadPanel(row) {
  const found = loaded.get(row.id) ?? (await row.load()).default;
  loaded.set(row.id, found);
  return found;
}

/** Load those that were not shown yet too: who looks at one later may find nobody to ask for it. */
export const loadOthers = () => PANELS.forEach((row) => void loadPanel(row).catch(() => {}));

/** @param {string} id */
export const loadedPanel = (id) => loaded.get(id);
