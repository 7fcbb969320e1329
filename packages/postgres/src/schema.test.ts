import { expect, it } from "vitest";
import { roleProblem, schemaSql, tableProblem } from "./schema.ts";

it("grants a role no more than a candidate needs", () => {
  expect(schemaSql("tenure_locks", "worker")).toContain(
    'GRANT SELECT, INSERT (name), UPDATE (record, annotations) ON tenure_locks TO "worker";',
  );
  expect(schemaSql()).not.toContain("GRANT");
});

it("creates the schema of a table that has one", () => {
  const sql = schemaSql("ops.locks", "worker");
  expect(sql).toContain("CREATE SCHEMA IF NOT EXISTS ops;");
  expect(sql).toContain("CREATE SEQUENCE IF NOT EXISTS ops.locks_revision");
  expect(sql).toContain('GRANT USAGE ON SCHEMA ops TO "worker";');
});

it.each(["x; DROP TABLE y", "a.b.c", "UPPER", "", "x".repeat(41), undefined])(
  "rejects the table %j",
  (table) => {
    expect(tableProblem(table)).toBeDefined();
  },
);

it.each(['a"b', "", "a b", undefined])("rejects the role %j", (role) => {
  expect(roleProblem(role)).toBeDefined();
});
