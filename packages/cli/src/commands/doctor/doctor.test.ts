/** What needs a machine with a wrong clock; every other fault is planted for the command as a process, in test/processes/operate. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSandbox } from "@tenure/sandbox";
import { expect, it } from "vitest";
import { run } from "../../run.ts";
import { fakePlatform } from "../../testing/fake-platform.ts";

it.each([
  [0, 0, /✓ clock {8}this machine and the API server agree \(within \d+ ms\)/],
  [
    -3_600_000,
    1,
    /✗ clock {8}this machine's clock is (59m59s|1h) behind the API server's\n {4}fix: set it by NTP/,
  ],
  [3_600_000, 1, /✗ clock {8}this machine's clock is (59m59s|1h) ahead of the API server's/],
])("a clock that is %d ms off: exit code %d", async (offMs, code, words) => {
  const home = await mkdtemp(join(tmpdir(), "tenure-doctor-"));
  const sandbox = await startSandbox();
  try {
    await sandbox.writeKubeconfig(join(home, "kubeconfig"));
    const platform = fakePlatform("doctor", { home, env: { KUBECONFIG: join(home, "kubeconfig") } });
    Object.assign(platform, { wallMs: () => Date.now() + offMs });
    expect(await run(platform)).toBe(code);
    expect(platform.printed).toMatch(words);
  } finally {
    await sandbox.close();
    await rm(home, { recursive: true });
  }
});
