/** The SQL of a candidate. Each statement is a transaction of its own and works on any connection, also through a pooler. */

export interface Statements {
  /** Always returns one row. Its other columns are null if there is no lock. */
  readonly read: string;
  /** A read that returns only when everything it saw is on disk and on the synchronous standbys. */
  readonly confirmedRead: string;
  readonly insert: string;
  /** Changes the lock only if it still has the uid and the revision that were read. Returns the row that it wrote. */
  readonly update: string;
  /** Makes a lock of a new row. */
  readonly create: string;
  readonly list: string;
  /** How many standbys there are, and which of them a commit waits for. */
  readonly replication: string;
  /** The name of the channel on which changes of this lock are announced. */
  readonly channel: string;
}

const columns = "uid::text, revision::text, record, annotations";

export function statementsFor(table: string): Statements {
  const read =
    `SELECT pg_is_in_recovery() AS replica, ${columns} FROM (SELECT 1) AS one ` +
    `LEFT JOIN ${table} ON name = $1 AND revision > 0`;
  return {
    read,
    // The message is a record in the write-ahead log, and nothing else. The commit waits until the log up to here is safe.
    confirmedRead: `${read}, pg_logical_emit_message(true, 'tenure', '')`,
    insert: `INSERT INTO ${table} (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`,
    update:
      `UPDATE ${table} SET record = $2, annotations = $3 ` +
      `WHERE name = $1 AND uid = $4 AND revision = $5 RETURNING ${columns}`,
    create: `UPDATE ${table} SET record = $2 WHERE name = $1 AND revision = 0 RETURNING ${columns}`,
    list: `SELECT name, ${columns} FROM ${table} WHERE revision > 0 ORDER BY name LIMIT 1000`,
    replication:
      "SELECT (SELECT count(*) FROM pg_stat_replication)::text AS standbys, " +
      "current_setting('synchronous_standby_names') AS synchronous",
    channel: `SELECT 'tenure_' || md5('${table}'::regclass::oid::text || '/' || $1) AS channel`,
  };
}
