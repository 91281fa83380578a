// The known values of a field of an intervention or a fault, which users can choose from.

import { summary, unfinished } from "./store.js";
import { spoken } from "./words.js";

/**
 * Return the known values of a field, or undefined if the user must type the value.
 * @param {string} field @returns {{value: string, label: string}[] | undefined}
 */
export function choicesFor(field) {
  if (field === "operation") {
    const open = unfinished.value.filter(({ kind }) => kind !== "held_by_intervention");
    return open.map(({ id, kind, project, state }) => ({ value: id, label: `${spoken(kind)} of ${project}, ${state}` }));
  }
  const { projects = [], organizations = [], users = [] } = summary.value ?? {};
  const rows = { project: projects, organization: organizations, user: users, principal: users, to: users };
  return rows[field]?.map(({ alias, name }) => ({ value: alias, label: name ? `${alias} (${name})` : alias }));
}
