import { type Problem, quote } from "@tenure/base";
import { Option } from "commander";

/** The status servers of replicas that cannot be found through their pods. */
export function replicasOption(): Option {
  return new Option(
    "--replica <url...>",
    "status server of a replica (see --status of tenure run), to know its work and not only its record: http://HOST:PORT " +
      "or NAMESPACE/ELECTION=http://HOST:PORT",
  );
}

export interface ReplicaAddress {
  readonly url: string;
  /** `namespace/name`, if the flag says so. */
  readonly election?: string;
}

export function parseReplica(text: string): ReplicaAddress | undefined {
  const [, election, address = ""] = /^(?:([^=/\s]+\/[^=/\s]+)=)?(\S+)$/.exec(text) ?? [];
  if (!URL.canParse(address)) return undefined;
  const { protocol, host, hostname } = new URL(address);
  if (protocol !== "http:" || hostname === "") return undefined;
  return { url: `http://${host}`, ...(election !== undefined && { election }) };
}

/** @param name the one election that is followed; undefined if there are several */
export function replicaProblems(texts: readonly string[] = [], name: string | undefined): Problem[] {
  return texts.flatMap((text) => {
    const address = parseReplica(text);
    const field = "replica";
    if (address === undefined)
      return {
        field,
        rule: "must be http://HOST:PORT or NAMESPACE/ELECTION=http://HOST:PORT",
        value: quote(text),
      };
    if (address.election === undefined && name === undefined)
      return {
        field,
        rule: "must say whose replica it is, because several elections are followed",
        value: quote(text),
        fix: `write NAMESPACE/ELECTION=${address.url}`,
      };
    return [];
  });
}
