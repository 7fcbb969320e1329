/**
 * TLS and tokens for a client. Certificates are read when the credentials are made: made within the consumer's `client` function
 * they are read anew for every connection. A token file is read anew as it gets old, as tokens rotate.
 * A token over an unencrypted connection is refused: anybody on the way could read it.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { CallCredentials, ChannelCredentials, Metadata } from "@grpc/grpc-js";
import { asError, StreamError } from "../errors.ts";
import { type Clock, systemClock } from "../platform.ts";

/** A token that is older is read again before the next call. */
const tokenAgeMs = 10_000;

export interface AccessOptions {
  /** False: no encryption. @default true */
  readonly tls?: boolean;
  /** The certificate authority of the server. @default those that Node trusts */
  readonly caFile?: string;
  /** The certificate of this client, with `keyFile`. @default none */
  readonly certFile?: string;
  /** @default none */
  readonly keyFile?: string;
  /** Sent with each call as `authorization: Bearer …`. @default none */
  readonly tokenFile?: string;
  /** @default the machine's */
  readonly clock?: Clock;
}

/** Credentials of a channel, to be given to the client. */
export function channelCredentials(options: AccessOptions = {}): ChannelCredentials {
  const { tls = true, caFile, certFile, keyFile, tokenFile } = options;
  const problems: string[] = [];
  if (!tls) {
    const without = Object.entries({ caFile, certFile, keyFile, tokenFile }).filter(([, path]) => path);
    for (const [name] of without) problems.push(`${name} needs tls`);
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    problems.push("certFile and keyFile need each other");
  }
  const [ca, cert, key] = [caFile, certFile, keyFile].map((path) => readOrReport(path, problems));
  if (problems.length > 0) {
    throw new StreamError("InvalidOptions", `Cannot set up the credentials: ${problems.join("; ")}.`);
  }
  if (!tls) return ChannelCredentials.createInsecure();
  const channel = ChannelCredentials.createSsl(ca ?? null, key ?? null, cert ?? null);
  return tokenFile === undefined ? channel : channel.compose(tokenCredentials(tokenFile, options.clock));
}

/** Credentials of each call: the token of a file, as fresh as 10 s. */
export function tokenCredentials(path: string, clock: Clock = systemClock): CallCredentials {
  let token: string | undefined;
  let readMs = 0;
  const fresh = async (): Promise<string> => {
    if (token === undefined || clock.nowMs() - readMs >= tokenAgeMs) {
      token = (await readFile(path, "utf8")).trim();
      readMs = clock.nowMs();
      if (token === "") throw new Error("the file is empty");
    }
    return token;
  };
  return CallCredentials.createFromMetadataGenerator((_call, answer) => {
    fresh().then(
      (bearer) => {
        const metadata = new Metadata();
        metadata.set("authorization", `Bearer ${bearer}`);
        answer(null, metadata);
      },
      (cause) => {
        token = undefined;
        const message = `Cannot read the token in ${path}: ${asError(cause).message}.`;
        answer(new StreamError("TokenUnreadable", message, { cause }));
      },
    );
  });
}

function readOrReport(path: string | undefined, problems: string[]): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    problems.push(`${path} cannot be read (${asError(error).message})`);
    return undefined;
  }
}
