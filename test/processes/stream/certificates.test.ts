/** A server whose certificate authority changes while a message is in flight. The handler's own calls must reach it again. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, ServerCredentials, type ServerWritableStream } from "@grpc/grpc-js";
import { newAuthority, newServerCertificate, systemPlatform } from "@tenure/sandbox/internal";
import { channelCredentials } from "@tenure/stream";
import { afterEach, expect, it } from "vitest";
import { atTheEnd, closeAll, consume, ItemsClient, until } from "./support.ts";

afterEach(closeAll);

const json = {
  requestSerialize: (value: unknown) => Buffer.from(JSON.stringify(value)),
  requestDeserialize: (bytes: Buffer) => JSON.parse(bytes.toString()),
  responseSerialize: (value: unknown) => Buffer.from(JSON.stringify(value)),
  responseDeserialize: (bytes: Buffer) => JSON.parse(bytes.toString()),
};

/** A server that sends one message, and counts what is finished. Its authority is new each time. */
async function serve(caFile: string, port: number) {
  const authority = newAuthority("test", systemPlatform);
  const own = newServerCertificate(authority, ["127.0.0.1", "localhost"], systemPlatform);
  await writeFile(caFile, authority.certificatePem);
  const server = new Server();
  const finished: number[] = [];
  server.addService(
    {
      subscribe: { path: "/test.Items/Subscribe", requestStream: false, responseStream: true, ...json },
      finish: { path: "/test.Items/Finish", requestStream: false, responseStream: false, ...json },
    },
    {
      subscribe: (call: ServerWritableStream<{ after: number }, unknown>) => {
        if (call.request.after === 0) call.write({ id: 1, text: "" });
      },
      finish: (call: { request: number }, answer: (error: null, reply: object) => void) => {
        finished.push(call.request);
        answer(null, {});
      },
    },
  );
  atTheEnd(() => server.forceShutdown());
  const credentials = ServerCredentials.createSsl(null, [
    { private_key: Buffer.from(own.keyPem), cert_chain: Buffer.from(own.certificatePem) },
  ]);
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );
  return { port: bound, finished, end: () => server.forceShutdown() };
}

it("a handler that retries picks up the new authority, and the message is finished", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenure-certificates-"));
  atTheEnd(() => rm(folder, { recursive: true, force: true }));
  const caFile = join(folder, "ca.crt");
  const first = await serve(caFile, 0);
  let attempts = 0;
  let mayFinish = () => {};
  const isRotated = new Promise<void>((resolve) => {
    mayFinish = resolve;
  });
  const { clock, consumer } = consume(first.port, {
    client: (channel) => new ItemsClient(`localhost:${first.port}`, channelCredentials({ caFile }), channel),
    handle: async ({ id }, { client }) => {
      attempts++;
      if (attempts === 1) await isRotated;
      await new Promise<void>((resolve, reject) =>
        client.makeUnaryRequest(
          "/test.Items/Finish",
          json.requestSerialize,
          json.responseDeserialize,
          id,
          (error) => (error ? reject(error) : resolve()),
        ),
      );
    },
  });
  let failures = 0;
  consumer.on("handler-failed", () => void failures++);
  await until(() => attempts === 1, "the message");
  first.end();
  const second = await serve(caFile, first.port);
  mayFinish();
  const isFinished = () => consumer.stats().finished === 1;
  for (let attempt = 1; !isFinished(); attempt++) {
    await until(() => isFinished() || failures >= attempt, `the result of attempt ${attempt}`);
    expect(attempt).toBeLessThan(6);
    await clock.pass(30_000);
  }
  expect(second.finished).toEqual([1]);
});
