import { expect, it } from "vitest";
import { startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const world = newWorld();

it.each(["--", "-"])(
  "three candidates, flags with %s: Ctrl-C on the leader moves leadership",
  async (dash) => {
    const flags = [
      `${dash}kubeconfig=${world.kubeconfig}`,
      `${dash}lease-lock-name`,
      `example${dash.length}`,
    ];
    const open = (id: string) =>
      startTenure([
        "elect",
        ...flags,
        `${dash}lease-lock-namespace=default`,
        `${dash}id=${id}`,
        "--log-format=text",
      ]);
    const first = open("1");
    await first.hasPrinted("1: I am the leader!");
    const others = new Map(["2", "3"].map((id) => [id, open(id)]));
    for (const [id, other] of others) await other.hasPrinted(`${id}: new leader elected: 1`);
    first.kill("SIGINT");
    expect((await first.exit).code).toBe(0);
    const next = await Promise.any(
      [...others].map(async ([id, other]) => {
        await other.hasPrinted("I am the leader!");
        return id;
      }),
    );
    const last = next === "2" ? "3" : "2";
    await others.get(last)?.hasPrinted(`${last}: new leader elected: ${next}`);
    for (const id of [next, last]) {
      others.get(id)?.kill("SIGINT");
      expect((await others.get(id)?.exit)?.code).toBe(0);
    }
  },
);
