/**
 * The program that connects the pods' network with this machine. It runs in the network of the pods, and is the only process with a
 * way out: the files of two Unix sockets. No packet passes between the networks, only bytes of connections.
 *
 * router.sock: the node agent connects and writes one line of JSON.
 *   {"dial":["10.244.1.2",3000]} connects to a pod. The answer is "ok", and then the connection, or a line with the reason.
 *   {"listen":[["10.96.3.4",80]]} are the addresses of all services. The answer is "ok".
 * agent.sock: the program connects when a pod connects to a service, and writes one line of JSON, and then the connection.
 *   {"service":["10.96.3.4",80],"from":"10.244.1.2"}
 */
export const routerProgram = `"use strict";
const { connect, createServer } = require("node:net");
const { join } = require("node:path");
const timers = require("node:timers");
const { argv } = process;
const folder = argv[1];
const dialMs = 3000;
const listeners = new Map();

function pipe(a, b) {
  a.pipe(b);
  b.pipe(a);
  a.on("error", () => {}).once("close", () => b.destroy());
  b.on("error", () => {}).once("close", () => a.destroy());
}

function dial(client, host, port) {
  const pod = connect({ host, port, allowHalfOpen: true });
  const late = timers.setTimeout(() => pod.destroy(new Error("timed out")), dialMs);
  const refuse = (error) => {
    timers.clearTimeout(late);
    client.end(error.message + "\\n");
  };
  pod.once("error", refuse);
  pod.once("connect", () => {
    timers.clearTimeout(late);
    pod.off("error", refuse);
    client.write("ok\\n");
    pipe(client, pod);
  });
  client.once("close", () => pod.destroy());
}

function serve(host, port) {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (pod) => {
    const agent = connect({ path: join(folder, "agent.sock"), allowHalfOpen: true });
    agent.write(JSON.stringify({ service: [host, port], from: pod.remoteAddress }) + "\\n");
    pipe(pod, agent);
  });
  server.on("error", () => {});
  server.listen(port, host);
  return server;
}

function listen(places) {
  const wanted = new Map(places.map(([host, port]) => [host + ":" + port, [host, port]]));
  for (const [key, server] of listeners) {
    if (wanted.has(key)) continue;
    server.close();
    listeners.delete(key);
  }
  for (const [key, [host, port]] of wanted) if (!listeners.has(key)) listeners.set(key, serve(host, port));
}

createServer({ allowHalfOpen: true }, (client) => {
  client.on("error", () => {});
  let text = Buffer.alloc(0);
  const onData = (bytes) => {
    text = Buffer.concat([text, bytes]);
    const end = text.indexOf(10);
    if (end < 0) return;
    client.off("data", onData);
    client.pause();
    client.unshift(text.subarray(end + 1));
    const request = JSON.parse(text.subarray(0, end).toString());
    if (request.dial) dial(client, ...request.dial);
    else {
      listen(request.listen);
      client.end("ok\\n");
    }
  };
  client.on("data", onData);
}).listen(join(folder, "router.sock"), () => console.log("ready"));
`;
