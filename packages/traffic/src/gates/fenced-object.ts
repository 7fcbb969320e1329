/**
 * One object in the cluster that names the leader: an EndpointSlice with one endpoint, or a ConfigMap with one name.
 * Guarantees: the object never names two replicas. A term never overwrites what a later term wrote, however late the
 * server executes a request, because every write is compare-and-swap on the object that was read. Closing removes this
 * replica only if no later term has written.
 * Not promised: fencing across a deletion of the object by hand. After a deletion, a late write of a term that is still
 * valid by its own clock creates the object again; the leader corrects that at its next renewal.
 */
import type { GateTerm } from "../gate.ts";
import { sinceAnnotation, tokenAnnotation } from "../names.ts";
import type { Call, GateBackend } from "./kube-gate.ts";
import { find, type KubeObject, rejectIfFenced, tokenOf } from "./objects.ts";

export interface FencedKind {
  /** For messages: `EndpointSlice prod/web-leader`. */
  readonly what: string;
  readonly path: string;
  readonly collection: string;
  /** Reads what the object depends on, and rejects if that is unusable. Called before every opening, because it may change. */
  prepare?(call: Call): Promise<void>;
  /** Throws if the object belongs to somebody else. */
  accept(object: KubeObject): void;
  /** A new object that names no replica. */
  blank(): KubeObject;
  /** The object with this replica named, or with none. All other fields are unchanged. */
  fill(object: KubeObject, isNamed: boolean): KubeObject;
  /** Whether the object names no replica. */
  isEmpty(object: KubeObject): boolean;
  /** Whether the object names this replica and no other. */
  isFilled(object: KubeObject): boolean;
}

export class FencedObject implements GateBackend {
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

  async takeOver(call: Call, term: GateTerm): Promise<void> {
    const found = await find(call, this.#kind.path);
    if (!found || !this.#isOurs(found) || tokenOf(found) >= BigInt(term.token) || this.#kind.isEmpty(found))
      return;
    await this.#write(call, found, BigInt(term.token), false);
  }

  async open(call: Call, term: GateTerm): Promise<void> {
    const [found] = await Promise.all([find(call, this.#kind.path), this.#kind.prepare?.(call)]);
    if (found) {
      this.#kind.accept(found);
      rejectIfFenced(found, BigInt(term.token), this.#kind.what);
    }
    await this.#write(call, found, BigInt(term.token), true);
  }

  async check(call: Call, term: GateTerm): Promise<string | undefined> {
    const found = await find(call, this.#kind.path);
    if (found && tokenOf(found) === BigInt(term.token) && this.#kind.isFilled(found)) return undefined;
    await this.open(call, term);
    return `somebody ${found ? "changed" : "deleted"} the ${this.#kind.what}; it names this replica again`;
  }

  async close(call: Call, term: GateTerm): Promise<void> {
    const found = await find(call, this.#kind.path);
    if (!found || tokenOf(found) > BigInt(term.token) || !this.#isOurs(found)) return;
    await this.#write(call, found, BigInt(term.token), false);
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
