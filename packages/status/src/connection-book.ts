/**
 * Decides which connections a status server keeps. A new connection always gets a place, because it may be a probe: if there is
 * no place left, another connection loses its own. The address with the most connections gives way first, and of its
 * connections the one that has waited longest for a request. So a client that opens many connections, sends nothing or sends
 * slowly displaces itself, and not a probe.
 * Event streams are never displaced. They are limited to half of the places, so the other half always serves requests.
 * Not promised: an answer while a client keeps the processor busy. A NetworkPolicy keeps such clients away.
 */
export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxEventClients: number;
}

/**
 * - `waiting`: no request, or a part of one, has arrived.
 * - `answering`: a response is being written.
 * - `streaming`: it is an event stream.
 */
type State = "waiting" | "answering" | "streaming";

interface Entry {
  readonly address: string;
  state: State;
  /** When the state began: the order of all changes. */
  since: number;
}

export class ConnectionBook<Connection> {
  readonly #limits: ConnectionLimits;
  readonly #entries = new Map<Connection, Entry>();
  readonly #perAddress = new Map<string, number>();
  #changes = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a connection. Returns the one that has to be closed for it, if any. That is the new one if nothing else may be. */
  opened(connection: Connection, address: string): Connection | undefined {
    const count = (this.#perAddress.get(address) ?? 0) + 1;
    this.#perAddress.set(address, count);
    this.#entries.set(connection, { address, state: "waiting", since: ++this.#changes });
    const { maxConnections, maxConnectionsPerAddress } = this.#limits;
    const victim =
      count > maxConnectionsPerAddress
        ? this.#oldest((entry) => entry.address === address)
        : this.#entries.size > maxConnections
          ? this.#oldestOfBusiest()
          : undefined;
    if (victim !== undefined) this.closed(victim);
    return victim;
  }

  asked(connection: Connection): void {
    this.#enter(connection, "answering");
  }

  answered(connection: Connection): void {
    this.#enter(connection, "waiting");
  }

  /** Whether the connection may become an event stream. If so, it is one from now on. */
  streams(connection: Connection): boolean {
    const entry = this.#entries.get(connection);
    if (!entry) return false;
    const { maxConnections, maxConnectionsPerAddress, maxEventClients } = this.#limits;
    const half = (limit: number) => Math.max(1, Math.floor(limit / 2));
    let [all, own] = [0, 0];
    for (const { state, address } of this.#entries.values()) {
      if (state !== "streaming") continue;
      all++;
      if (address === entry.address) own++;
    }
    if (all >= Math.min(maxEventClients, half(maxConnections)) || own >= half(maxConnectionsPerAddress))
      return false;
    this.#enter(connection, "streaming");
    return true;
  }

  /** No effect if the connection is unknown, for example because it was displaced before it closed. */
  closed(connection: Connection): void {
    const entry = this.#entries.get(connection);
    if (!entry) return;
    this.#entries.delete(connection);
    const count = (this.#perAddress.get(entry.address) ?? 1) - 1;
    if (count === 0) this.#perAddress.delete(entry.address);
    else this.#perAddress.set(entry.address, count);
  }

  #enter(connection: Connection, state: State): void {
    const entry = this.#entries.get(connection);
    if (!entry) return;
    entry.state = state;
    entry.since = ++this.#changes;
  }

  #oldestOfBusiest(): Connection | undefined {
    const counts = [...new Set(this.#perAddress.values())].sort((one, other) => other - one);
    for (const count of counts) {
      const found = this.#oldest(({ address }) => this.#perAddress.get(address) === count);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A connection without a request first. A response whose client does not read it gives way too. */
  #oldest(isCandidate: (entry: Entry) => boolean): Connection | undefined {
    const best: { [state in State]?: { connection: Connection; since: number } } = {};
    for (const [connection, entry] of this.#entries) {
      if (!isCandidate(entry)) continue;
      const known = best[entry.state];
      if (!known || entry.since < known.since) best[entry.state] = { connection, since: entry.since };
    }
    return (best.waiting ?? best.answering)?.connection;
  }
}
