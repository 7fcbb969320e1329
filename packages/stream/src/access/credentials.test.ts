/** TLS and tokens on real sockets. The sandbox creates the certificates. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { newAuthority, newServerCertificate, systemPlatform } from "@tenure/sandbox/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { channelCredentials } from "./credentials.ts";

const path = "/test.Who/AmI";
const nothing = () => Buffer.alloc(0);

let folder: string;
let server: Server;
let port: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-credentials-"));
  const authority = newAuthority("test", systemPlatform);
  const own = newServerCertificate(authority, ["127.0.0.1", "localhost"], systemPlatform);
  await writeFile(join(folder, "ca.crt"), authority.certificatePem);
  server = new Server();
  server.addService(
    {
      amI: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: nothing,
        requestDeserialize: nothing,
        responseSerialize: (text: string) => Buffer.from(text),
        responseDeserialize: String,
      },
    },
    { amI: whoAmI },
  );
  const credentials = ServerCredentials.createSsl(null, [
    { private_key: Buffer.from(own.keyPem), cert_chain: Buffer.from(own.certificatePem) },
  ]);
  port = await new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
});

afterEach(async () => {
  server.forceShutdown();
  await rm(folder, { recursive: true });
});

function whoAmI(call: ServerUnaryCall<unknown, string>, answer: sendUnaryData<string>): void {
  answer(null, String(call.metadata.get("authorization")[0] ?? "nobody"));
}

function ask(client: Client): Promise<string> {
  return new Promise((resolve, reject) =>
    client.makeUnaryRequest(path, nothing, String, undefined, (error, text) =>
      error ? reject(error) : resolve(text as string),
    ),
  );
}

describe("channelCredentials", () => {
  it("trusts only the given authority", async () => {
    const trusting = new Client(`127.0.0.1:${port}`, channelCredentials({ caFile: join(folder, "ca.crt") }));
    expect(await ask(trusting)).toBe("nobody");
    trusting.close();
    const strange = new Client(`127.0.0.1:${port}`, channelCredentials());
    await expect(ask(strange)).rejects.toMatchObject({ code: 14 });
    strange.close();
  });

  it("sends the token in the file with each call, and reads the file again after 10 s", async () => {
    const clock = new VirtualClock();
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, "one\n");
    const credentials = channelCredentials({ caFile: join(folder, "ca.crt"), tokenFile, clock });
    const client = new Client(`127.0.0.1:${port}`, credentials);
    expect(await ask(client)).toBe("Bearer one");
    await writeFile(tokenFile, "two\n");
    await clock.pass(9_999);
    expect(await ask(client)).toBe("Bearer one");
    await clock.pass(1);
    expect(await ask(client)).toBe("Bearer two");
    client.close();
  });

  it("fails the call while the token cannot be read", async () => {
    const tokenFile = join(folder, "token");
    const client = new Client(
      `127.0.0.1:${port}`,
      channelCredentials({ caFile: join(folder, "ca.crt"), tokenFile }),
    );
    await expect(ask(client)).rejects.toThrow(`Cannot read the token in ${tokenFile}`);
    await writeFile(tokenFile, "");
    await expect(ask(client)).rejects.toThrow("the file is empty");
    await writeFile(tokenFile, "here");
    expect(await ask(client)).toBe("Bearer here");
    client.close();
  });

  it("reports every problem", () => {
    expect(() => channelCredentials({ tls: false, tokenFile: "/nowhere", certFile: "/no/cert" })).toThrow(
      /certFile requires tls; tokenFile requires tls; certFile and keyFile require each other; \/no\/cert cannot be read/,
    );
  });
});
