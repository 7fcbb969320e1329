import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Guide, openGuide, type Terminal, whyNot } from "./guide.ts";

let guide: Guide;
beforeEach(async () => {
  guide = await openGuide("examples/guide-process/README.md");
});
afterEach(() => guide?.close());

/** The order in which a terminal said these; fails if it said them in another one. */
async function inOrder(terminal: Terminal, texts: (string | RegExp)[], since = 0): Promise<number> {
  let at = since;
  for (const text of texts) at = await terminal.says(text, at);
  return at;
}

const childOf = (terminal: Terminal, line: number) =>
  /child (\d+) started/.exec(terminal.lines[line] ?? "")?.[1];

describe.skipIf(whyNot !== undefined)("examples/guide-process", () => {
  test("can be followed to the end", { timeout: 180_000 }, async () => {
    const server = guide.start("# the gRPC server");
    await server.says("serving orders on port");

    // Start.
    const pod1 = guide.start("# pod 1");
    const starts = [
      "phase follower → pre-leader",
      /child \d+ started/,
      "is ready",
      "phase pre-leader → leader",
    ];
    await inOrder(pod1, starts);
    await server.says("pod-1 subscribes");
    const pod2 = guide.start("# pod 2");
    await pod2.says("new leader elected: pod-1");

    // The child crashes.
    const child = childOf(pod1, await pod1.says(/child \d+ started/));
    let at = pod1.lines.length;
    await guide.shell(`CHILD=${child}\n${guide.block("kill -9 $CHILD")}`);
    at = await inOrder(pod1, [`child ${child} exited on SIGKILL`, /child \d+ started/, "is ready"], at);

    // The child is not well.
    await guide.run("# unhealthy, then healthy again");
    at = await inOrder(pod1, ["asked to stop", /child \d+ started/, "is ready"], at);

    // The pod is terminated.
    at = pod1.lines.length;
    pod1.kill("SIGTERM");
    await inOrder(
      pod1,
      [
        "asked to stop",
        "→ terminating",
        "exited with code 0",
        "and its descendants have exited",
        "gave up leadership",
      ],
      at,
    );
    expect(await pod1.exitCode).toBe(0);
    await inOrder(pod2, starts);
    await server.says("pod-2 subscribes");
    pod2.interrupt();
    expect(await pod2.exitCode).toBe(0);
    server.interrupt();
    expect(await server.exitCode).toBe(0);
    const report = JSON.parse(server.lines.find((line) => line.startsWith("{")) ?? "{}");
    expect(report).toMatchObject({ twice: 0, refused: 0 });
    expect(report.finished).toBeGreaterThan(10);

    // The child does not stop.
    const stubborn = guide.start("# a child that ignores SIGTERM");
    await stubborn.says("phase pre-leader → leader");
    const stubbornChild = childOf(stubborn, await stubborn.says(/child \d+ started/));
    stubborn.interrupt();
    await inOrder(stubborn, ["ignoring SIGTERM", `killing process ${stubbornChild}`, "had to be killed"]);
    expect(await stubborn.exitCode).toBe(1);

    // The child does not start.
    const never = guide.start("# a child that is never ready");
    await inOrder(never, [
      "phase follower → pre-leader",
      "giving up leadership",
      "phase pre-leader → follower",
    ]);
    never.interrupt();
    expect(await never.exitCode).toBe(0);

    // Timeouts.
    const refused = await guide.shell(guide.block("# refused, with exit code 2"), 2);
    expect(refused).toContain(
      "--stop-timeout must be at least 1s longer than --child-shutdown (30s), but is 25s",
    );

    expect(guide.left).toEqual([]);
  });
});
