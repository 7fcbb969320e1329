/**
 * The table of the locks. Its triggers uphold what the guarantees of an election need, also for a person with psql:
 *
 * - Every change of a row gets a new revision from a sequence, and the sequence outlives the row (G2). The trigger takes the
 *   number while it holds the row's lock, so the revisions of one row grow in the order of its changes.
 * - Every change is announced to the candidates that listen.
 * - A commit is on disk, and on the synchronous standbys if there are any, before a candidate learns of it (G1).
 *
 * A new row has the revision 0 and does not count as a lock: an INSERT gets its values before it waits for a row of the same
 * name to be deleted, so a revision from that moment could be lower than the last one of the deleted row. The UPDATE that
 * follows gets a higher one.
 */
import type { Problem } from "@tenure/base";
import { quote } from "@tenure/base";

export const defaultTable = "tenure_locks";

export function tableProblem(table: unknown): Problem | undefined {
  if (typeof table === "string" && /^([a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$/.test(table))
    return undefined;
  return {
    field: "table",
    rule: "must be NAME or SCHEMA.NAME in lower-case letters, digits and _, with at most 40 characters each",
    value: quote(table),
  };
}

export function roleProblem(role: unknown): Problem | undefined {
  if (typeof role === "string" && /^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$/.test(role)) return undefined;
  return {
    field: "role",
    rule: "must be the name of a role, in letters, digits, _ and -",
    value: quote(role),
  };
}

/** The SQL that creates the table. It can be run again. @param role gets the rights that a candidate needs */
export function schemaSql(table: string = defaultTable, role?: string): string {
  const [schema, name] = table.includes(".") ? table.split(".") : [undefined, table];
  const inSchema = (object: string) => (schema === undefined ? object : `${schema}.${object}`);
  const sequence = inSchema(`${name}_revision`);
  const before = inSchema(`${name}_before_change`);
  const after = inSchema(`${name}_after_change`);
  return `BEGIN;
${schema === undefined ? "" : `CREATE SCHEMA IF NOT EXISTS ${schema};\n`}
-- One row for each election. PostgreSQL 13 or later.
CREATE TABLE IF NOT EXISTS ${table} (
  name text PRIMARY KEY,
  uid uuid NOT NULL DEFAULT gen_random_uuid(),
  revision bigint NOT NULL DEFAULT 0,
  record jsonb NOT NULL DEFAULT '{}',
  annotations jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

-- The source of revisions and fencing tokens. CACHE 1: each session would hand out its own numbers otherwise.
CREATE SEQUENCE IF NOT EXISTS ${sequence} AS bigint MINVALUE 1 CACHE 1 NO CYCLE;

CREATE OR REPLACE FUNCTION ${before}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $tenure$
BEGIN
  -- An acknowledged write must survive a crash, or two candidates can lead.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  IF TG_OP = 'INSERT' THEN
    NEW.revision := 0;
  ELSE
    NEW.name := OLD.name;
    NEW.uid := OLD.uid;
    NEW.revision := nextval(format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME || '_revision'));
  END IF;
  RETURN NEW;
END
$tenure$;

CREATE OR REPLACE FUNCTION ${after}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $tenure$
DECLARE
  channel text := 'tenure_' || md5(TG_RELID::text || '/' || OLD.name);
  message text;
BEGIN
  IF TG_OP = 'DELETE' THEN
    message := json_build_object('deleted',
      nextval(format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME || '_revision'))::text);
  ELSE
    message := json_build_object('uid', NEW.uid, 'revision', NEW.revision::text,
      'lock', json_build_object('record', NEW.record, 'annotations', NEW.annotations));
    -- A notification has at most 8000 bytes. Candidates read the row after this one.
    IF octet_length(message) > 7000 THEN message := '{}'; END IF;
  END IF;
  PERFORM pg_notify(channel, message);
  RETURN NULL;
END
$tenure$;

DROP TRIGGER IF EXISTS ${name}_before_change ON ${table};
CREATE TRIGGER ${name}_before_change BEFORE INSERT OR UPDATE ON ${table}
  FOR EACH ROW EXECUTE FUNCTION ${before}();
DROP TRIGGER IF EXISTS ${name}_after_change ON ${table};
CREATE TRIGGER ${name}_after_change AFTER UPDATE OR DELETE ON ${table}
  FOR EACH ROW EXECUTE FUNCTION ${after}();
${role === undefined ? "" : grants(table, schema, role)}
COMMIT;
`;
}

/** What a candidate needs. The triggers run with the rights of their owner, so no candidate needs the sequence. */
function grants(table: string, schema: string | undefined, role: string): string {
  return `
-- What a candidate needs, and no more: it cannot delete a lock or choose a revision.
${schema === undefined ? "" : `GRANT USAGE ON SCHEMA ${schema} TO "${role}";\n`}GRANT SELECT, INSERT (name), UPDATE (record, annotations) ON ${table} TO "${role}";
`;
}
