/**
 * Declares kinds that the sandbox mainly stores: clients and controllers give them their meaning. What most kinds have
 * in common follows from the group and the name of the kind.
 */
import { ageColumn, type Column, type Kind, nameColumn, section } from "../kind.ts";
import { isDnsSubdomain } from "../name-rules.ts";
import { type ApiObject, at, type JsonObject } from "../object.ts";

type Declared = Pick<Kind, "group" | "kind"> & Partial<Kind>;

/** Fills in version v1, names, type and storage. A kind is namespaced unless it says otherwise. */
export function declare(given: Declared): Kind {
  const { group, version = "v1", kind } = given;
  const singular = kind.toLowerCase();
  const plural = given.plural ?? `${singular}${singular.endsWith("s") ? "es" : "s"}`;
  return {
    version,
    singular,
    plural,
    namespaced: true,
    type: `api.${group.split(".")[0] || "core"}.${version}.${kind}`,
    storage: plural,
    name: isDnsSubdomain,
    columns: [nameColumn, ageColumn],
    ...given,
  };
}

/** The name, the given columns, and the age. */
export const withColumns = (...columns: Column[]): Column[] => [nameColumn, ...columns, ageColumn];

/** A column that shows one field, or `otherwise` if it is not set. */
export function fieldColumn(name: string, path: string, otherwise: unknown = "<none>"): Column {
  return { name, cell: (object) => at(object, ...path.split(".")) ?? otherwise };
}

export const wide = (column: Column): Column => ({ ...column, priority: 1 });

/** Fills in fields of a section that are not set. */
export function defaulting(name: string, fields: JsonObject): (object: ApiObject) => ApiObject {
  return (object) => ({ ...object, [name]: { ...fields, ...section(object, name) } });
}
