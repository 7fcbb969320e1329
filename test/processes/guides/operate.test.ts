/** The commands of docs/tasks/operate.md, run as they stand on an election that is there. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Guide, openGuide, whyNot } from "./guide.ts";

let guide: Guide;
beforeEach(async () => {
  guide = await openGuide("docs/tasks/operate.md");
});
afterEach(() => guide?.close());

const candidate = (id: string) =>
  guide.terminal(`exec tenure elect --lease-lock-name billing --lease-lock-namespace prod --id ${id}`);

describe.skipIf(whyNot !== undefined)("docs/tasks/operate.md", () => {
  test("its commands do what it says", { timeout: 120_000 }, async () => {
    await guide.shell("kubectl create namespace prod");
    const [one, other] = ["billing-1", "billing-7d9f5-abcde"] as const;
    const first = candidate(one);
    await first.says("I am the leader!");
    const second = candidate(other);
    await second.says(`new leader elected: ${one}`);

    // The last of them stays until Ctrl-C.
    const looking = guide.start("tenure status billing -n prod\ntenure list");
    await looking.says(/leader +billing-1/);
    await looking.says(/^prod +billing +billing-1/);
    await looking.says(`${one} leads`, looking.lines.length);
    looking.interrupt();

    const candidates = await guide.run("tenure status billing -n prod\nkubectl get leases");
    expect(candidates).toMatch(new RegExp(`${other}.*leads`));
    for (const id of [one, other]) expect(candidates).toContain(`billing.candidate.${id}`);

    const handed = await guide.run("tenure step-down billing -n prod");
    expect(handed).toContain(`${one} stepped down`);
    expect(handed).toContain(`${other} leads`);

    const paused = await guide.run("tenure pause billing -n prod");
    expect(paused).toContain("nobody leads");
    expect(paused).toContain("is resumed");

    expect(await guide.run("tenure doctor billing -n prod")).toContain("No problems found.");

    first.interrupt();
    second.interrupt();
    expect(await Promise.all([first.exitCode, second.exitCode])).toEqual([0, 0]);
    expect(guide.left).toEqual([]);
  });
});
