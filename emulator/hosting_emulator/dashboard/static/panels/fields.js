// Builds form fields from the emulator's schema: the fields of a fault or an intervention, the values that users can
// choose in each field, and the document for a completed form. This module neither renders nor fetches anything.

import { asJson } from "../api.js";
import { choicesFor } from "../choices.js";
import { spoken } from "../words.js";

/**
 * @typedef {Record<string, any>} Schema
 * @typedef {import("../parts/form.js").Field & {type: string, standard: any, texts: boolean}} Field a field of a form,
 *   and how its value is converted: `type` is a type in the schema, "enum", or "parts" for a list of objects. `standard`
 *   is the default value, and `texts` says whether the values of an object are strings.
 */

/** @type {Record<string, string>} */
const HELP = {
  all: "all that match the other fields",
  from: "a timestamp (2026-01-31T09:30:00Z) or a duration from now (10m)",
  until: "a timestamp (2026-01-31T09:30:00Z) or a duration from now (10m)",
  window: "a duration of world time, 1s to 24h",
  expires_in: "a duration of world time, such as 30d",
  header: "one per line: X-Client: mobile*",
  while: "one per line: dns: expired",
  query: "one per line: limit: 5",
  body: "one per line: enabled: true",
  set: "one per line: /progress/phase: warming up",
  rename: "one per line: /progress/phase: stage",
  headers: "one per line: Retry-After: 5",
  path: "below /v1, with * for any text: /v1/projects/*/domains",
  zone: "such as example.com",
  domain: "such as shop.example.com",
  permissions: "separated by spaces",
  organizations: 'as in a world file: [{"alias": "studio"}]',
  users: '[{"alias": "zoe", "organizations": {"acme": "member"}}]',
  projects: '[{"alias": "site", "organization": "acme"}]',
  keys: '[{"user": "zoe", "value": "phk_…"}]',
};
const EITHER = [["operation", "project"], ["ticket", "user"]];

/**
 * Follow a schema's reference, and remove the `null` alternative.
 * @param {Schema} schema @param {Record<string, Schema>} defs @returns {Schema}
 */
function resolved(schema, defs) {
  if (schema.$ref) return resolved(defs[schema.$ref.split("/").pop()], defs);
  if (!schema.anyOf) return schema;
  const one = schema.anyOf.find((/** @type {Schema} */ part) => part.type !== "null");
  return { ...schema, ...resolved(one, defs) };
}

/**
 * List the fields of an object's schema. `known` contains the values to choose from, by field, in addition to the
 * values in the store and in the schema.
 * @param {Schema} schema @param {Record<string, Schema>} defs
 * @param {Record<string, Field["choices"]>} [known] @returns {Field[]}
 */
export function fieldsOf(schema, defs, known = {}) {
  const whole = resolved(schema, defs);
  const names = Object.keys(whole.properties ?? {});
  return names.map((name) => {
    const fieldSchema = resolved(whole.properties[name], defs);
    // An empty list is also a value.
    const required = (whole.required ?? []).includes(name) && fieldSchema.type !== "array";
    const standard = fieldSchema.default ?? "";
    const choices = fieldSchema.enum ?? known[name] ?? choicesFor(name);
    return {
      name,
      label: spoken(name),
      kind: kindOf(fieldSchema, choices),
      type: fieldSchema.items?.$ref ? "parts" : fieldSchema.enum?.every(Number.isInteger) ? "integer" : fieldSchema.enum ? "enum" : fieldSchema.type,
      required,
      help: either(name, names, required) ?? HELP[name] ?? bounds(fieldSchema) ?? "",
      value: typeof standard === "boolean" ? standard : String(standard),
      standard,
      texts: fieldSchema.additionalProperties?.type === "string",
      choices,
      min: fieldSchema.minimum,
      max: fieldSchema.maximum,
    };
  });
}

/**
 * Return a value in the form that its field shows: an object as lines such as `X-Client: mobile*`, a boolean unchanged.
 * @param {unknown} value @returns {string | boolean}
 */
export function textOf(value) {
  if (typeof value === "boolean") return value;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${typeof part === "string" ? part : JSON.stringify(part)}`)
    .join("\n");
}

/** Return a hint if the user must fill in one of two optional fields. */
function either(/** @type {string} */ name, /** @type {string[]} */ names, /** @type {boolean} */ required) {
  const pair = EITHER.find((both) => both.includes(name) && both.every((one) => names.includes(one)));
  return pair && !required ? `this, or the ${pair.find((one) => one !== name)}` : undefined;
}

/** @param {Schema} schema @param {Field["choices"]} [choices] @returns {Field["kind"]} */
function kindOf(schema, choices) {
  if (schema.type === "boolean") return "checkbox";
  if (schema.items?.$ref) return "json";
  if (schema.type === "object") return "textarea";
  if (choices) return "select";
  return schema.type === "integer" || schema.type === "number" ? "number" : "text";
}

/** @param {Schema} schema */
function bounds({ minimum, maximum }) {
  if (minimum != null && maximum != null) return `${minimum} to ${maximum}`;
  return minimum != null ? `${minimum} or more` : undefined;
}

/**
 * Return the document for a completed form, without empty values and defaults.
 * @param {Field[]} fields @param {Record<string, any>} values @returns {Record<string, any>}
 */
export function documentOf(fields, values) {
  /** @type {Record<string, any>} */
  const result = {};
  for (const { name, type, required, standard, texts } of fields) {
    const value = values[name];
    const empty = value == null || value === "" || value === false;
    if (type === "array") result[name] = String(value ?? "").split(/[\s,]+/).filter(Boolean);
    else if (empty || (!required && String(value) === String(standard))) continue;
    else if (type === "object") result[name] = pairs(value, texts ? String : asJson);
    else result[name] = type === "integer" || type === "number" ? Number(value) : value;
  }
  return result;
}

/** Parse lines such as `X-Client: mobile*`. @param {string} text */
function pairs(text, value) {
  const lines = text.split("\n").filter((line) => line.trim());
  return Object.fromEntries(lines.map((line) => {
    const [name, ...rest] = line.split(":");
    return [name.trim(), value(rest.join(":").trim())];
  }));
}
