// @ts-check
/** The order service as grpc-js sees it; loaded from the .proto, without generated code. */
import { fileURLToPath } from "node:url";
import { loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const definition = loadSync(fileURLToPath(new URL("./orders.proto", import.meta.url)), {
  longs: Number,
  defaults: true,
});

/** @typedef {{ id: number, customer: string, cents: number }} Order */

/** @type {any} */
const { tenure } = loadPackageDefinition(definition);

/** A client: `new Orders(address, credentials, options)`. */
export const { Orders } = tenure.example.orders.v1;

/**
 * A unary call as a promise.
 * @param {any} client @param {string} method @param {object} request @param {import("@grpc/grpc-js").Metadata} [metadata]
 * @returns {Promise<any>}
 */
export function ask(client, method, request, metadata) {
  return new Promise((resolve, reject) => {
    const answer = (/** @type {Error | null} */ error, /** @type {unknown} */ reply) =>
      error ? reject(error) : resolve(reply);
    if (metadata) client[method](request, metadata, answer);
    else client[method](request, answer);
  });
}
