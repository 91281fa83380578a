// The table of panels: in the order of the navigation, each loaded when it is first shown.

/**
 * @typedef {{id: string, name: string, group: string, key: string,
 *   load: () => Promise<{default: (props: {arg: string, query: Record<string, string>}) => any}>}} PanelRow
 */

/** `key` follows `g`. @type {PanelRow[]} */
export const PANELS = [
  { id: "overview", name: "Overview", group: "See", key: "o", load: () => import("./panels/overview.js") },
  { id: "requests", name: "Requests", group: "See", key: "r", load: () => import("./panels/requests.js") },
  { id: "operations", name: "Operations", group: "See", key: "w", load: () => import("./panels/operations.js") },
  { id: "conduct", name: "Conduct", group: "See", key: "d", load: () => import("./panels/conduct.js") },
  { id: "projects", name: "Projects", group: "See", key: "p", load: () => import("./panels/projects.js") },
  { id: "try", name: "Try a call", group: "Steer", key: "t", load: () => import("./panels/try.js") },
  { id: "clock", name: "Clock", group: "Steer", key: "c", load: () => import("./panels/clock.js") },
  { id: "faults", name: "Faults", group: "Steer", key: "f", load: () => import("./panels/faults.js") },
  { id: "outcomes", name: "Outcomes", group: "Steer", key: "u", load: () => import("./panels/outcomes.js") },
  { id: "interventions", name: "Interventions", group: "Steer", key: "i", load: () => import("./panels/interventions.js") },
  { id: "scenarios", name: "Scenarios", group: "Steer", key: "s", load: () => import("./panels/scenarios.js") },
  { id: "history", name: "History", group: "Steer", key: "h", load: () => import("./panels/history.js") },
  { id: "assumptions", name: "Assumptions", group: "Know", key: "a", load: () => import("./panels/assumptions.js") },
  { id: "problems", name: "Problems", group: "Know", key: "e", load: () => import("./panels/problems.js") },
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
