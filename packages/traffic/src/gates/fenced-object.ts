/**
 * One object of the cluster that names the leader, whoever it is: an EndpointSlice with one endpoint, a ConfigMap with one
 * name. Upholds: it never names two, a term never writes over what a later one wrote (however late a request is carried
 * out, for every write is compare-and-swap on what was read), and closing takes out only what is still ours.
 * Not promised: fencing over the deletion of the object by hand; then a late write of a term that is still valid by its
 * own clock makes it anew, and the leader mends that at its next renewal.
 */
import type { GateTerm } from "../gate.ts";
import { sinceAnnotation, tokenAnnotation } from "../names.ts";
import type { Call, Place } from "./kube-gate.ts";
import { find, type KubeObject, refuseIfFenced, tokenOf } from "./objects.ts";

export interface FencedKind {
  /** For people: `EndpointSlice prod/web-leader`. */
  readonly what: string;
  readonly path: string;
  readonly collection: string;
  /** Reads what the object depends on; rejects if it can do no good. Before every entering, as it may change meanwhile. */
  prepare?(call: Call): Promise<void>;
  /** Throws if the object is somebody else's. */
  accept(object: KubeObject): void;
  /** A new object that names nobody. */
  blank(): KubeObject;
  /** The object naming this replica, or nobody, and everything else as it was. */
  fill(object: KubeObject, isNamed: boolean): KubeObject;
  /** Whether it names this replica, and nothing else. */
  isFilled(object: KubeObject): boolean;
}

export class FencedObject implements Place {
  readonly #kind: FencedKind;
  readonly #now: () => number;

  constructor(kind: FencedKind, now: () => number) {
    this.#kind = kind;
    this.#now = now;
  }

  async prepare(call: Call): Promise<void> {
    await this.#kind.prepare?.(call);
    const found = await find(call, this.#kind.path);
    if (found) this.#kind.accept(found);
  }

  async enter(call: Call, term: GateTerm): Promise<void> {
    const [found] = await Promise.all([find(call, this.#kind.path), this.#kind.prepare?.(call)]);
    if (found) {
      this.#kind.accept(found);
      refuseIfFenced(found, term.token, this.#kind.what);
    }
    await this.#write(call, found, term.token, true);
  }

  async check(call: Call, term: GateTerm): Promise<string | undefined> {
    const found = await find(call, this.#kind.path);
    if (found && tokenOf(found) === term.token && this.#kind.isFilled(found)) return undefined;
    await this.enter(call, term);
    return `somebody ${found ? "changed" : "deleted"} the ${this.#kind.what}; it names this replica again`;
  }

  async leave(call: Call, term: GateTerm): Promise<void> {
    const found = await find(call, this.#kind.path);
    if (!found || tokenOf(found) > term.token || !this.#isOurs(found)) return;
    await this.#write(call, found, term.token, false);
  }

  #isOurs(object: KubeObject): boolean {
    try {
      this.#kind.accept(object);
      return true;
    } catch {
      return false;
    }
  }

  async #write(call: Call, found: KubeObject | undefined, token: bigint, isNamed: boolean): Promise<void> {
    const kind = this.#kind;
    const filled = kind.fill(found ?? kind.blank(), isNamed);
    const annotations = {
      ...filled.metadata.annotations,
      [tokenAnnotation]: String(token),
      [sinceAnnotation]: new Date(this.#now()).toISOString(),
    };
    const body = { ...filled, metadata: { ...filled.metadata, annotations } };
    if (found) await call({ method: "PUT", path: kind.path, body });
    else await call({ method: "POST", path: kind.collection, body });
  }
}
