/**
 * TLS and tokens for a client. Certificates are read when the credentials are created. If the consumer's `client` function
 * creates them, they are read again for every connection. A token file is read again every 10 s, because tokens rotate.
 * A token without TLS is rejected, because anybody on the network could read it.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { CallCredentials, ChannelCredentials, Metadata } from "@grpc/grpc-js";
import { type Clock, messageOf, systemClock } from "@tenure/base";
import { StreamError } from "../errors.ts";

/** A token that was read longer ago than this is read again before the next call. */
const tokenAgeMs = 10_000;

export interface AccessOptions {
  /** `false` turns encryption off. @default true */
  readonly tls?: boolean;
  /** The certificate authority of the server. @default the authorities that Node trusts */
  readonly caFile?: string;
  /** The certificate of this client. Requires `keyFile`. @default none */
  readonly certFile?: string;
  /** The key of this client. Requires `certFile`. @default none */
  readonly keyFile?: string;
  /** Sent with each call as `authorization: Bearer …`. @default none */
  readonly tokenFile?: string;
  /** For tests. @default the machine's clock */
  readonly clock?: Clock;
}

/** Channel credentials for the constructor of a client. */
export function channelCredentials(options: AccessOptions = {}): ChannelCredentials {
  const { tls = true, caFile, certFile, keyFile, tokenFile } = options;
  const problems: string[] = [];
  if (!tls) {
    const without = Object.entries({ caFile, certFile, keyFile, tokenFile }).filter(([, path]) => path);
    for (const [name] of without) problems.push(`${name} requires tls`);
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    problems.push("certFile and keyFile require each other");
  }
  const [ca, cert, key] = [caFile, certFile, keyFile].map((path) => readOrReport(path, problems));
  if (problems.length > 0) {
    throw new StreamError("InvalidOptions", `Cannot create the credentials: ${problems.join("; ")}.`);
  }
  if (!tls) return ChannelCredentials.createInsecure();
  const channel = ChannelCredentials.createSsl(ca ?? null, key ?? null, cert ?? null);
  return tokenFile === undefined ? channel : channel.compose(tokenCredentials(tokenFile, options.clock));
}

/** Call credentials: the token in a file, which is read again every 10 s. */
function tokenCredentials(path: string, clock: Clock = systemClock): CallCredentials {
  let token: string | undefined;
  let readMs = 0;
  const currentToken = async (): Promise<string> => {
    if (token === undefined || clock.now().monoMs - readMs >= tokenAgeMs) {
      token = (await readFile(path, "utf8")).trim();
      readMs = clock.now().monoMs;
      if (token === "") throw new Error("the file is empty");
    }
    return token;
  };
  return CallCredentials.createFromMetadataGenerator((_call, callback) => {
    currentToken().then(
      (bearer) => {
        const metadata = new Metadata();
        metadata.set("authorization", `Bearer ${bearer}`);
        callback(null, metadata);
      },
      (cause) => {
        token = undefined;
        const message = `Cannot read the token in ${path}: ${messageOf(cause)}.`;
        callback(new StreamError("TokenUnreadable", message, { cause }));
      },
    );
  });
}

function readOrReport(path: string | undefined, problems: string[]): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    problems.push(`${path} cannot be read (${messageOf(error)})`);
    return undefined;
  }
}
