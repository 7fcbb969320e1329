/**
 * A small module that Node programs in pods load first, where pods share the network of the machine. A program that listens on all
 * addresses then listens on the address of its pod, so that several replicas can use the same port. Programs that are not written
 * in Node are not affected: they have to listen on $HOST.
 */
export const listenHook = `"use strict";
const { Server } = require("node:net");
const { env } = process;
const address = env.TENURE_POD_ADDRESS;
const isAll = (host) => host === undefined || host === null || ["", "0.0.0.0", "::", "::0"].includes(host);
const isPort = (value) => typeof value === "number" || (typeof value === "string" && /^\\d+$/.test(value));
const listen = Server.prototype.listen;
Server.prototype.listen = function (...args) {
  const [first, second] = args;
  if (address && isPort(first)) {
    if (typeof second === "string" || (args.length > 1 && (second === undefined || second === null))) {
      if (isAll(second)) args[1] = address;
    } else args.splice(1, 0, address);
  } else if (address && first !== null && typeof first === "object" && isPort(first.port) && isAll(first.host)) {
    args[0] = { ...first, host: address };
  }
  return listen.apply(this, args);
};
`;

/** Adds the module to the options of Node that a container already has. */
export function withListenHook(
  env: Readonly<Record<string, string>>,
  file: string,
  address: string,
): Record<string, string> {
  const options = [`--require=${file}`, env.NODE_OPTIONS].filter(Boolean).join(" ");
  return { ...env, TENURE_POD_ADDRESS: address, NODE_OPTIONS: options };
}
