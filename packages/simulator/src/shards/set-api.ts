/** The API server of a set of shards over simulated HTTP, and what somebody with kubectl does to its Leases. */
import { parseShardMap, type ShardMap } from "@tenure/core";
import { mapAnnotation, type SetKind } from "@tenure/election/internal";
import { Accounts } from "../http/accounts.ts";
import { HttpApi } from "../http/api.ts";
import { Collection } from "../http/collection.ts";
import { placeOf } from "../http/objects.ts";
import { serverMs } from "../machine-clock.ts";
import type { Scheduler } from "../scheduler.ts";
import { Store } from "../server.ts";
import type { SetPlace } from "./participant.ts";

export const setName = "sim";

export class SetApi implements SetPlace {
  readonly http: HttpApi;
  readonly #leases: Collection;
  readonly #mapName: string;

  constructor(kind: SetKind, scheduler: Scheduler) {
    const store = new Store();
    this.#mapName = `${setName}.${kind}`;
    this.#leases = new Collection(placeOf("Lease"), store, () => serverMs(scheduler.nowMs));
    this.http = new HttpApi({
      store,
      accounts: new Accounts(),
      objects: [],
      collections: [this.#leases],
    });
  }

  get map(): ShardMap | undefined {
    const text = this.#leases.get(this.#mapName)?.metadata.annotations?.[mapAnnotation];
    return text === undefined ? undefined : parseShardMap(text);
  }

  delete(name: string): void {
    this.#leases.delete(this.#nameOf(name));
  }

  unlabel(name: string): void {
    const object = this.#leases.get(this.#nameOf(name));
    if (object) this.#leases.put({ ...object, metadata: { ...object.metadata, labels: {} } });
  }

  #nameOf(name: string): string {
    return name === "map" ? this.#mapName : `${this.#mapName}.${name}`;
  }
}
