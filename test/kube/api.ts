/** A minimal client for the tests of this folder, which must not depend on @tenure/kube. */
import type { IncomingMessage } from "node:http";
import * as https from "node:https";
import { createInterface } from "node:readline";

export interface Access {
  server: string;
  caPem: string;
  token: string;
}

/** The fields of a Kubernetes object, list or Status that these tests use. */
export interface Answer {
  kind?: string;
  reason?: string;
  metadata?: { name?: string; uid?: string; resourceVersion?: string };
  spec?: { holderIdentity?: string };
  status?: { token?: string };
  gitVersion?: string;
}

export interface WatchEvent {
  type: string;
  object: Answer;
}

export async function call(access: Access, method: string, path: string, body?: object) {
  const response = await send(access, method, path, body);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) as Answer };
}

/** Like `call`, but throws on an error status. For setup. */
export async function must(access: Access, method: string, path: string, body?: object): Promise<Answer> {
  const answer = await call(access, method, path, body);
  if (answer.status === undefined || answer.status >= 300) {
    throw new Error(`${method} ${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}

/** The events of a watch. The connection closes when the iteration ends. */
export async function* watch(access: Access, path: string): AsyncGenerator<WatchEvent, void, void> {
  const response = await send(access, "GET", path);
  try {
    if (response.statusCode !== 200) throw new Error(`watch ${path} returned ${response.statusCode}`);
    for await (const line of createInterface({ input: response })) yield JSON.parse(line) as WatchEvent;
  } finally {
    response.destroy();
  }
}

function send({ server, caPem, token }: Access, method: string, path: string, body?: object) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = https.request(server + path, { method, ca: caPem, agent: false, headers }, resolve);
    request.once("error", reject);
    request.end(body && JSON.stringify(body));
  });
}
