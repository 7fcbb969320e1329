/** @tenure/postgres: leader election on PostgreSQL, without Kubernetes. */
export { PostgresLock, type PostgresLockOptions } from "./postgres-lock.ts";
export { roleProblem, schemaSql, tableProblem } from "./schema.ts";
