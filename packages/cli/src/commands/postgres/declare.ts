/** `tenure postgres schema`: prints the SQL that creates the table of the locks. */
import { type Command, Option } from "commander";
import type { Platform } from "../../platform.ts";
import { rejectProblems } from "../../settings/problems.ts";

interface SchemaFlags {
  table: string;
  role?: string;
}

export function declarePostgres(program: Command, platform: Platform): void {
  const command = program.command("postgres").description("Elections on PostgreSQL, without Kubernetes");
  command
    .command("schema")
    .description("Print the SQL that creates the table of the locks, to run as the owner of the database")
    .addOption(new Option("--table <name>", "NAME or SCHEMA.NAME of the table").default("tenure_locks"))
    .option("--role <name>", "role of the candidates, which gets the rights that they need")
    .addHelpText(
      "after",
      `
It contacts no server. Running the SQL again changes nothing. PostgreSQL 13 or later.

Examples:
  tenure postgres schema --role worker | psql "$DATABASE_URL"
  tenure run --lock postgres://worker@db/app --lease-lock-name billing -- node worker.js`,
    )
    .action(async ({ table, role }: SchemaFlags) => {
      const { roleProblem, schemaSql, tableProblem } = await import("@tenure/postgres");
      const problems = [tableProblem(table), role === undefined ? undefined : roleProblem(role)];
      rejectProblems(
        problems.filter((problem) => problem !== undefined),
        { cannot: "run tenure postgres schema" },
      );
      platform.out(schemaSql(table, role));
    });
}
