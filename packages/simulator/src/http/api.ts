/** The HTTP API over the simulated store: authentication, paths and status codes. */
import type { Store } from "../server.ts";
import type { Accounts, Proof } from "./accounts.ts";
import { type Collection, nameIn } from "./collection.ts";
import type { Endpoint, HttpAnswer, HttpRequest } from "./endpoint.ts";
import type { ObjectApi } from "./object-api.ts";
import { leaseCandidates, lockName } from "./objects.ts";

export interface Served {
  readonly store: Store;
  readonly accounts: Accounts;
  /** The lock objects. */
  readonly objects: readonly ObjectApi[];
  /** Everything else. */
  readonly collections: readonly Collection[];
}

export class HttpApi implements Served {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly objects: readonly ObjectApi[];
  readonly collections: readonly Collection[];

  constructor({ store, accounts, objects, collections }: Served) {
    this.store = store;
    this.accounts = accounts;
    this.objects = objects;
    this.collections = collections;
  }

  /** The lock or the collection that a request is about. Any other request, for example with an Event, is about the last of them. */
  at(request: HttpRequest): Endpoint {
    const parts = (request.path.split("?")[0] ?? "").split("/");
    const isAsked = ({ plural }: { readonly plural: string }) => parts.includes(plural);
    const lock = this.objects.find(isAsked);
    const collection = this.collections.find(({ resource }) => isAsked(resource));
    const found = lock && (!collection || isAboutLock(request, lock)) ? lock : collection;
    return (found ?? this.objects.at(-1) ?? this.collections.at(-1)) as Endpoint;
  }

  handle(request: HttpRequest, proof: Proof): HttpAnswer {
    const endpoint = this.at(request);
    if (!this.accounts.accepts(proof)) return endpoint.status(401, "Unauthorized");
    if (request.path.endsWith("/events")) return { status: 201, headers: {}, body: "{}" };
    if (request.path.endsWith("/v1beta1")) return this.#discovery(endpoint);
    return endpoint.handle(request);
  }

  /** Whether the API server chooses leaders is known by what it serves. */
  #discovery(endpoint: Endpoint): HttpAnswer {
    const { plural: name } = leaseCandidates;
    const isServed = this.collections.some(({ resource }) => resource.plural === name);
    if (!isServed) return endpoint.status(404, "NotFound");
    return { status: 200, headers: {}, body: JSON.stringify({ resources: [{ name }] }) };
  }
}

function isAboutLock({ method, path, body }: HttpRequest, lock: ObjectApi): boolean {
  if (path.includes("labelSelector=")) return false;
  const sent = method === "POST" ? (JSON.parse(body) as { metadata: { name: string } }) : undefined;
  const name = sent?.metadata.name ?? nameIn(path, lock);
  // A watch without a name is one that several locks share.
  return name === undefined || name === lockName;
}
