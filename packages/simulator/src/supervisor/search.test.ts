import { expect, it } from "vitest";
import { shortScopes } from "./scopes.ts";
import { searchSupervisor } from "./search.ts";

it.each(shortScopes)("finds no violation in short histories of $name", (scope) => {
  const result = searchSupervisor({ ...scope, depth: 3 });
  expect(result.violation).toBeUndefined();
  expect(result.states).toBeGreaterThan(50);
});
