/**
 * Addresses of pods and services. The API does not accept loopback addresses in endpoints, but a process without a network of its
 * own can only listen on those. So every address 10.x.y.z of the cluster has a twin on this machine: 127.x.y.z.
 */

/** The address on this machine that stands for an address of the cluster. Other addresses are returned as they are. */
export function loopbackTwin(address: string): string {
  return address.startsWith("10.") ? `127.${address.slice(3)}` : address;
}

/** The address of the cluster for which an address of this machine stands. */
export function clusterAddress(twin: string): string {
  return twin.startsWith("127.") ? `10.${twin.slice(4)}` : twin;
}

/** The addresses of the pods of one node. */
export class AddressPool {
  readonly #prefix: string;
  readonly #used = new Map<string, string>();
  #next = firstHost;

  /** @param cidr for example 10.244.1.0/24 */
  constructor(cidr: string) {
    this.#prefix = cidr.split(".").slice(0, 3).join(".");
  }

  /** The address of this pod. Returns undefined if all are in use. @param known the address that the pod already has */
  take(uid: string, known?: string): string | undefined {
    const own = this.#used.get(uid);
    if (own) return own;
    const inUse = new Set(this.#used.values());
    if (known?.startsWith(`${this.#prefix}.`) && !inUse.has(known)) return this.#assign(uid, known);
    // An address is used again as late as possible: somebody may still connect to the old pod.
    for (let tries = firstHost; tries <= lastHost; tries++) {
      const address = `${this.#prefix}.${this.#next}`;
      this.#next = this.#next === lastHost ? firstHost : this.#next + 1;
      if (!inUse.has(address)) return this.#assign(uid, address);
    }
    return undefined;
  }

  release(uid: string): void {
    this.#used.delete(uid);
  }

  #assign(uid: string, address: string): string {
    this.#used.set(uid, address);
    return address;
  }
}

const firstHost = 2;
const lastHost = 254;

/** The networks of nodes: 10.244.0.0/24 to 10.244.255.0/24. */
function podNetwork(index: number): string {
  return `10.244.${index}.0/24`;
}

/** The networks that no node has, lowest first. */
export function freePodNetworks(used: ReadonlySet<string>): string[] {
  return Array.from({ length: 256 }, (_, index) => podNetwork(index)).filter((network) => !used.has(network));
}
