/** An etcd that is too old for the sandbox's store. A member is played by a gRPC server that only tells its version. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { memberStatus } from "@tenure/etcd/internal";
import { openEtcdStore } from "@tenure/sandbox";
import { afterEach, expect, it } from "vitest";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.forceShutdown();
});

/** @returns its address */
async function startMember(version: string): Promise<string> {
  const server = new Server();
  servers.push(server);
  const method = {
    path: memberStatus.path,
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: memberStatus.encode,
    requestDeserialize: memberStatus.decodeRequest,
    responseSerialize: memberStatus.encodeResponse,
    responseDeserialize: memberStatus.decode,
  };
  server.addService(
    { Status: method },
    { Status: (_: unknown, answer: (error: null, response: object) => void) => answer(null, { version }) },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return `http://127.0.0.1:${port}`;
}

it("is rejected with its address, its version and the versions to use", async () => {
  const endpoints = [await startMember("3.6.8"), await startMember("3.4.23")];
  await expect(openEtcdStore({ endpoints })).rejects.toThrow(
    `etcd at ${endpoints[1]} has version 3.4.23, which confirms changes to a watch before it has sent them: use etcd 3.4.31, 3.5.13, or 3.6 and later`,
  );
});
