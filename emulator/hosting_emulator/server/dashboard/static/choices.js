// What may be chosen for a field of an intervention or a fault, by the field's name.

import { summary, unfinished } from "./store.js";
import { spoken } from "./words.js";

/**
 * The known values of a field; undefined when only its writer knows.
 * @param {string} field @returns {{value: string, label: string}[] | undefined}
 */
export function choicesFor(field) {
  const found = summary.value;
  if (!found) return [];
  const named = (row) => ({
    value: row.alias,
    label: row.name ? `${row.alias} (${row.name})` : row.alias,
  });
  if (field === "project") return found.projects.map(named);
  if (["person", "principal", "to"].includes(field)) return found.people.map(named);
  if (field === "organization") return found.organizations.map(named);
  if (field !== "operation") return undefined;
  return unfinished.value.filter(({ kind }) => kind !== "held_by_intervention").map((row) => ({
    value: row.id,
    label: `${spoken(row.kind)} of ${row.project}, ${row.state}`,
  }));
}
