// @ts-check
/**
 * The benchmark's own API client. It does not use @tenure/kube, which is measured here: a slow client must not distort its own
 * measurement.
 */
import * as https from "node:https";
import { createInterface } from "node:readline";
import { monoMs } from "./clock.mjs";

/**
 * @typedef {object} Lease
 * @property {{ name: string, namespace: string, uid?: string, resourceVersion: string }} metadata
 * @property {{ holderIdentity?: string, leaseDurationSeconds?: number, acquireTime?: string, renewTime?: string,
 *   leaseTransitions?: number }} spec
 *
 * @typedef {object} Access
 * @property {string} server
 * @property {string} caPem
 * @property {string} adminToken
 *
 * @typedef {{ type: string, lease: Lease, seenMs: number }} LeaseEvent
 */

const leasesRoot = "/apis/coordination.k8s.io/v1/namespaces";
const requestTimeoutMs = 30_000;

export class Api {
  #access;
  #agent;

  /** @param {Access} access */
  constructor(access) {
    this.#access = access;
    this.#agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  }

  /** @param {string} name */
  async createNamespace(name) {
    await this.json("POST", "/api/v1/namespaces", { metadata: { name } });
  }

  /** @param {string} namespace @param {string} name @param {Lease["spec"]} spec @returns {Promise<Lease>} */
  createLease(namespace, name, spec) {
    return this.json("POST", `${leasesRoot}/${namespace}/leases`, { metadata: { name }, spec });
  }

  /** @param {Lease} lease @returns {Promise<Lease>} */
  updateLease(lease) {
    const { namespace, name } = lease.metadata;
    return this.json("PUT", `${leasesRoot}/${namespace}/leases/${name}`, lease);
  }

  /**
   * Reports every change of the Leases in a namespace, with the time of its arrival.
   *
   * @param {string} namespace
   * @param {(event: LeaseEvent) => void} onEvent
   * @returns {Promise<() => void>} a function that ends the watch
   */
  async watchLeases(namespace, onEvent) {
    // A separate agent, because the pool has only one connection.
    const agent = new https.Agent({ keepAlive: true });
    const path = `${leasesRoot}/${namespace}/leases?watch=true&resourceVersion=0&timeoutSeconds=3600`;
    const response = await this.#send("GET", path, undefined, agent);
    if (response.statusCode !== 200)
      throw new Error(`Cannot watch ${namespace}: the server answered ${response.statusCode}`);
    const lines = createInterface({ input: response });
    // A server that stops also ends its watches. The benchmark notices that elsewhere. Readline forwards the error.
    for (const stream of [response, lines]) stream.on("error", () => {});
    lines.on("line", (line) => {
      const seenMs = monoMs();
      const { type, object } = JSON.parse(line);
      onEvent({ type, lease: object, seenMs });
    });
    return () => {
      response.destroy();
      agent.destroy();
    };
  }

  /** @param {string} method @param {string} path @param {object} [body] */
  async json(method, path, body) {
    const answer = await this.text(method, path, body);
    return JSON.parse(answer);
  }

  /** @param {string} method @param {string} path @param {object} [body] */
  async text(method, path, body) {
    const response = await this.#send(method, path, body, this.#agent);
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of response) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if ((response.statusCode ?? 500) >= 300)
      throw new Error(`${method} ${path} failed with ${response.statusCode}: ${text.slice(0, 500)}`);
    return text;
  }

  close() {
    this.#agent.destroy();
  }

  /**
   * @param {string} method @param {string} path @param {object | undefined} body @param {https.Agent} agent
   * @returns {Promise<import("node:http").IncomingMessage>}
   */
  #send(method, path, body, agent) {
    const { server, caPem, adminToken } = this.#access;
    const headers = {
      authorization: `Bearer ${adminToken}`,
      "content-type": "application/json",
      "user-agent": "tenure bench",
    };
    return new Promise((resolve, reject) => {
      const request = https.request(server + path, { method, ca: caPem, agent, headers }, (response) => {
        request.setTimeout(0);
        resolve(response);
      });
      request.setTimeout(requestTimeoutMs, () =>
        request.destroy(new Error(`${method} ${path} timed out after ${requestTimeoutMs} ms`)),
      );
      request.once("error", reject);
      request.end(body && JSON.stringify(body));
    });
  }
}
