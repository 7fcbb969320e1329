/** docs/start.md, as a newcomer follows it: nothing is there but the command, and every block is run as it stands. */
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Guide, openWholePage, type Terminal } from "./guide.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let guide: Guide;
beforeEach(async () => {
  guide = await openWholePage("docs/start.md");
});
afterEach(() => guide?.close());

/** The terminal that says first that it leads. */
function firstLeader(terminals: readonly Terminal[], since: readonly number[]): Promise<Terminal> {
  return Promise.any(
    terminals.map(async (terminal, index) => {
      await terminal.says("I am the leader!", since[index]);
      return terminal;
    }),
  );
}

const lengthsOf = (terminals: readonly Terminal[]) => terminals.map(({ lines }) => lines.length);

test("docs/start.md can be followed to the end", { timeout: 180_000 }, async () => {
  // 2. Three replicas.
  const a = guide.start("# second terminal");
  await a.says("I am the leader!");
  await a.says(/^a works$/);
  const b = guide.start("# third terminal");
  const c = guide.start("# fourth terminal");
  await Promise.all([b, c].map((terminal) => terminal.says("new leader elected: a")));
  expect([...b.lines, ...c.lines].filter((line) => / works$/.test(line))).toEqual([]);

  // 3. Ctrl-C.
  const beforeStop = lengthsOf([b, c]);
  a.interrupt();
  const successor = await firstLeader([b, c], beforeStop);
  expect(await a.exitCode).toBe(0);
  const name = successor === b ? "b" : "c";
  await successor.says(new RegExp(`^${name} works$`));

  // 4. The second terminal still has the variable that its first block has set.
  const setUp = guide.block("export KUBECONFIG=~/.tenure/sandbox.kubeconfig\n");
  const status = await guide.shell(setUp + guide.block("tenure status hello"));
  expect(status).toMatch(new RegExp(`leader +${name}\\n`));
  expect(status).toMatch(new RegExp(`candidate +${name === "b" ? "c" : "b"}:`));

  // 5. A handover to a chosen replica.
  const again = guide.start("# second terminal");
  await again.says(`new leader elected: ${name}`);
  expect(await guide.shell(setUp + guide.block("tenure transfer hello"))).toContain("a leads now");
  await again.says(/^a works$/);

  // 6. An outage.
  await guide.shell(setUp + guide.block("tenure sandbox faults add"));
  const lost = await again.says("lost leadership (renew-deadline)");
  const replicas = [again, b, c];
  const beforeRepair = lengthsOf(replicas);
  await guide.shell(setUp + guide.block("tenure sandbox faults clear"));
  const last = await firstLeader(replicas, [lost, ...beforeRepair.slice(1)]);
  await last.says(/ works$/, last.lines.length);
  for (const terminal of replicas) terminal.interrupt();
  expect(await Promise.all(replicas.map(({ exitCode }) => exitCode))).toEqual([0, 0, 0]);

  // 7. The library.
  await symlink(join(root, "node_modules"), join(guide.work, "node_modules"));
  await writeFile(join(guide.work, "hello.mjs"), guide.programs("js")[0] ?? "");
  const program = `${setUp}exec ${guide.block("node hello.mjs")}`;
  const first = guide.terminal(program);
  await first.says("working, with token");
  const second = guide.terminal(program);
  first.interrupt();
  await second.says("working, with token");
  expect(await first.exitCode).toBe(0);
  second.interrupt();
  expect(await second.exitCode).toBe(0);

  expect(guide.left).toEqual([]);
});
