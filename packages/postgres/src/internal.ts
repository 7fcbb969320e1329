/** @tenure/postgres/internal: for the other packages of tenure. It may change with any release. */
export { type NewDriver, type OpenSession, openSessionOf } from "./session.ts";
