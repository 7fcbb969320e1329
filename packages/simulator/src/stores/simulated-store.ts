/** The locks that need no Kubernetes, each on its simulated store. */
import type { Lock } from "@tenure/election";
import { EtcdLock } from "@tenure/etcd";
import { PostgresLock } from "@tenure/postgres";
import type { Random } from "../random.ts";
import type { Server } from "../server.ts";
import { simulatedEtcd } from "./etcd-client.ts";
import { EtcdCluster } from "./etcd-cluster.ts";
import { simulatedPostgres, standbyHost } from "./postgres-driver.ts";
import { PostgresServer } from "./postgres-server.ts";
import type { StoreKind } from "./store-kinds.ts";
import type { ClientParts } from "./store-parts.ts";

/** The store of one simulation. */
export class SimulatedStore {
  readonly #etcd: EtcdCluster | undefined;
  readonly postgres: PostgresServer | undefined;

  constructor(kind: StoreKind, server: Server, random: Random) {
    if (kind === "etcd") this.#etcd = new EtcdCluster(server, random.chance(0.3));
    else this.postgres = new PostgresServer(server);
  }

  rotateCredentials(): void {
    this.#etcd?.rotate();
  }

  /** The lock as one process uses it. */
  newLock(parts: ClientParts): Lock {
    const { random, clock } = parts;
    if (this.#etcd) {
      const account = this.#etcd.authenticates ? { username: "sim", password: "secret" } : {};
      const endpoints = random.pick([["a"], ["a", "b", "c"]]);
      const open = simulatedEtcd(this.#etcd, parts);
      return new EtcdLock({ name: "sim", endpoints, ...account }, { open, clock, random: random.next });
    }
    const server = this.postgres as PostgresServer;
    const hosts = random.pick(["primary", "primary", `${standbyHost},primary`]);
    const open = simulatedPostgres(server, parts);
    const url = `postgres://candidate@${hosts}/app`;
    return new PostgresLock({ name: "sim", url }, { open, clock, random: random.next });
  }
}
