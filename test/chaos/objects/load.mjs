// @ts-check
/**
 * Clients that write, read, list and watch a few ConfigMaps through all API servers of a cluster, and record what they see.
 * Writers compete for the same objects, each through another server at each request.
 */
import { nowMs } from "../history/history.mjs";
import { ApiClient } from "./client.mjs";

/**
 * @typedef {import("./history.mjs").Invoked} Invoked
 * @typedef {import("./history.mjs").Returned} Returned
 *
 * @typedef {object} LoadOptions
 * @property {string[]} servers their URLs
 * @property {string} kubeconfig
 * @property {import("../history/history.mjs").HistoryFile} history
 */

const writers = 4;
const watchers = 3;
const objects = ["load-a", "load-b", "load-c"];
const pauseMs = 60;
const listEveryMs = 700;
/** A deadline for what happens in milliseconds on an idle machine. */
const endMs = 60_000;
const path = "/api/v1/namespaces/default/configmaps";

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class ObjectLoad {
  #servers;
  #client;
  #history;
  // Not that of the faults, which the seed determines.
  #random = Math.random;
  #ops = 0;
  #isOver = false;
  #stopWatches = new AbortController();
  /** @type {Map<string, number>} the revision that each watcher has reached */
  #reached = new Map();
  /** @type {Promise<void>[]} */
  #running;
  /** @type {Promise<void>[]} */
  #watching;

  /** @param {LoadOptions} options */
  constructor({ servers, kubeconfig, history }) {
    this.#servers = servers;
    this.#client = new ApiClient(kubeconfig);
    this.#history = history;
    this.#watching = Array.from({ length: watchers }, (_, index) => this.#watch(`w${index}`, index));
    this.#running = [
      ...Array.from({ length: writers }, (_, index) => this.#writeUntilOver(index)),
      this.#listUntilOver(),
    ];
  }

  /** Ends the load when all watches have seen the last change. Call it when no fault is active. */
  async finish() {
    this.#isOver = true;
    await Promise.all(this.#running);
    let last = 0;
    const limitMs = nowMs() + endMs;
    while (last === 0 && nowMs() < limitMs) {
      const { revision, items = [] } = await this.#list(this.#anyServer());
      const current = items.find(({ object }) => object === objects[0]);
      last = revision === undefined ? 0 : await this.#put(String(objects[0]), current?.revision);
    }
    this.#history.append({ kind: "object-end", revision: last });
    // Every server shows the same.
    for (const server of this.#servers) await this.#list(server);
    while ([...this.#reached.values()].some((revision) => revision < last) && nowMs() < limitMs)
      await wait(50);
    await this.close();
  }

  async close() {
    this.#isOver = true;
    this.#stopWatches.abort();
    this.#client.close();
    await Promise.all([...this.#running, ...this.#watching]);
  }

  /** @param {number} index */
  async #writeUntilOver(index) {
    while (!this.#isOver) {
      const object = this.#pick(objects);
      const read = await this.#read(object);
      if (read.outcome === "ok") {
        if (read.revision !== undefined && this.#random() < 0.1) await this.#delete(object, read.revision);
        else await this.#put(object, read.revision);
      }
      await wait(pauseMs * (0.5 + this.#random()) + index);
    }
  }

  async #listUntilOver() {
    while (!this.#isOver) {
      await this.#list(this.#anyServer());
      await wait(listEveryMs);
    }
  }

  /** @param {string} watcher @param {number} offset */
  async #watch(watcher, offset) {
    const { signal } = this.#stopWatches;
    this.#reached.set(watcher, 0);
    /** @type {number | undefined} */
    let after;
    for (let turn = offset; !signal.aborted; turn += 1) {
      const server = String(this.#servers[turn % this.#servers.length]);
      const isNew = after === undefined;
      if (after === undefined) {
        after = (await this.#list(server)).revision;
        if (after === undefined) {
          await wait(100);
          continue;
        }
      }
      this.#history.append({ kind: "object-watch", watcher, server, after, isNew });
      const query = `?watch=true&resourceVersion=${after}`;
      const onEvent = (/** @type {{ type: string, object: any }} */ { type, object }) => {
        // The history of this server does not reach back that far. A server that is behind ends the watch with 504.
        if (type === "ERROR") {
          if (object.code === 410) after = undefined;
          return;
        }
        const revision = Number(object.metadata.resourceVersion);
        if (after !== undefined) after = revision;
        this.#reached.set(watcher, revision);
        const name = object.metadata.name;
        if (!objects.includes(name)) return;
        const value = type === "DELETED" ? {} : { value: object.data.value };
        this.#history.append({ kind: "object-event", watcher, object: name, revision, ...value });
      };
      await this.#client.watch(server, path + query, onEvent, signal);
      await wait(20);
    }
  }

  /** @param {string} object */
  #read(object) {
    return this.#record(
      { what: "read", object },
      "GET",
      `${path}/${object}`,
      undefined,
      ({ status, body }) => (status === 404 ? {} : { revision: versionOf(body), value: body.data.value }),
    );
  }

  /** @param {string} object @param {number | undefined} over @returns {Promise<number>} 0 if it was not acknowledged */
  async #put(object, over) {
    const value = `v${this.#ops}-${object}`;
    const metadata = { name: object, ...(over !== undefined && { resourceVersion: String(over) }) };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value } };
    const invoked = {
      what: /** @type {const} */ ("write"),
      object,
      value,
      ...(over !== undefined && { over }),
    };
    const [method, to] = over === undefined ? ["POST", path] : ["PUT", `${path}/${object}`];
    const { outcome, revision } = await this.#record(invoked, method, to, body, (answer) => ({
      revision: versionOf(answer.body),
    }));
    return outcome === "ok" ? (revision ?? 0) : 0;
  }

  /** @param {string} object @param {number} over */
  async #delete(object, over) {
    const preconditions = { resourceVersion: String(over) };
    const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions };
    await this.#record({ what: "delete", object, over }, "DELETE", `${path}/${object}`, body, () => ({}));
  }

  /** @param {string} server */
  #list(server) {
    return this.#record(
      { what: "list" },
      "GET",
      path,
      undefined,
      ({ body }) => ({ revision: versionOf(body), items: body.items.filter(isOurs).map(itemOf) }),
      server,
    );
  }

  /**
   * @param {Omit<Invoked, "kind" | "op" | "server" | "atMs">} facts
   * @param {string} method
   * @param {string} to
   * @param {object | undefined} body
   * @param {(answer: { status: number, body: any }) => Partial<Returned>} read what a good answer tells
   * @returns {Promise<Pick<Returned, "outcome"> & Partial<Returned>>}
   */
  async #record(facts, method, to, body, read, server = this.#anyServer()) {
    const op = ++this.#ops;
    this.#history.append({ kind: "object-invoke", op, server, ...facts, atMs: nowMs() });
    /** @type {Pick<Returned, "outcome"> & Partial<Returned>} */
    let result;
    try {
      const answer = await this.#client.request(server, method, to, body);
      result = { outcome: outcomeOf(facts.what, answer) };
      if (result.outcome === "ok") Object.assign(result, read(answer));
      else result.text = `${answer.status} ${answer.body.message}`;
    } catch (error) {
      result = { outcome: "none", text: /** @type {Error} */ (error).message };
    }
    this.#history.append({ kind: "object-return", op, ...result, atMs: nowMs() });
    return result;
  }

  #anyServer() {
    return this.#pick(this.#servers);
  }

  /** @param {string[]} items */
  #pick(items) {
    return /** @type {string} */ (items[Math.floor(this.#random() * items.length)]);
  }
}

/** @param {string} what @param {{ status: number, body: any }} answer @returns {Returned["outcome"]} */
function outcomeOf(what, { status, body }) {
  if (status === 200 || status === 201) return "ok";
  if (what === "read" && status === 404) return "ok";
  if (what !== "read" && what !== "list" && (status === 404 || status === 409)) return "refused";
  return status === 500 && /etcd does not answer: \S/.test(body.message) ? "unavailable" : "unclear";
}

/** @param {any} object */
const versionOf = (object) => Number(object.metadata.resourceVersion);
/** @param {any} object */
const isOurs = (object) => objects.includes(object.metadata.name);
/** @param {any} object */
const itemOf = (object) => ({
  object: object.metadata.name,
  value: object.data.value,
  revision: versionOf(object),
});
