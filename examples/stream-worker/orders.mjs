// @ts-check
/** The gRPC client of the order service, loaded from the .proto without generated code. */
import { fileURLToPath } from "node:url";
import { loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const definition = loadSync(fileURLToPath(new URL("./orders.proto", import.meta.url)), {
  longs: Number,
  defaults: true,
  oneofs: true,
});

/** @typedef {{ id: number, customer: string, cents: number }} Order */

/** @type {any} */
const { tenure } = loadPackageDefinition(definition);

/** The client class: `new Orders(address, credentials, options)`. */
export const { Orders } = tenure.example.orders.v1;

/**
 * Makes a unary call and returns a promise.
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
