/** `tenure __complete WORDS`: what a shell asks when the Tab key is pressed. It never fails and prints no errors. */
import { within } from "@tenure/base";
import { declareProgram } from "../command-line.ts";
import type { Platform } from "../platform.ts";
import { type ClusterNames, type Completion, complete, printCompletion } from "./complete.ts";

/** A person waits. Without an answer by then, the Tab key offers no names. */
const answerWithinMs = 2_000;

export async function answerCompletion(platform: Platform): Promise<number> {
  const words = platform.args.slice(1);
  const completion = complete(await declareProgram(platform), words);
  let names: readonly string[] = [];
  if (completion.ask) {
    const asked = namesFrom(completion.ask, completion, platform).then((found) => {
      names = found;
    });
    await within(platform.clock, answerWithinMs, asked);
  }
  const typed = words.at(-1) ?? "";
  const candidates = names
    .map((name) => ({ word: completion.prefix + name }))
    .filter(({ word }) => word.startsWith(typed));
  platform.out(printCompletion({ ...completion, candidates: [...completion.candidates, ...candidates] }));
  return 0;
}

async function namesFrom(
  what: ClusterNames,
  { connection }: Completion,
  platform: Platform,
): Promise<string[]> {
  try {
    const { connect } = await import("../cluster/connect.ts");
    const given = (flag: string, name: string) =>
      connection[flag] === undefined ? {} : { [name]: connection[flag] };
    const { client, namespace } = await connect(
      {
        ...given("--kubeconfig", "kubeconfig"),
        ...given("--context", "context"),
        ...given("--sandbox", "sandbox"),
        ...given("--lease-lock-namespace", "namespace"),
        ...given("--namespace", "namespace"),
      },
      platform,
    );
    const path =
      what === "namespaces"
        ? "/api/v1/namespaces"
        : `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    try {
      const { items } = await client.request<{ items: { metadata: { name: string } }[] }>({
        method: "GET",
        path,
        query: { limit: "500" },
      });
      return items.map(({ metadata }) => metadata.name).sort();
    } finally {
      client.close();
    }
  } catch {
    // Without a cluster there are no names to offer.
    return [];
  }
}
