/** Faults of this machine's clock. test/processes/operate tests all other faults, with the command as a process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@tenure/base";
import { startSandbox } from "@tenure/sandbox";
import { expect, it } from "vitest";
import { runCommandLine } from "../../command-line.ts";
import { fakePlatform } from "../../testing/fake-platform.ts";

it.each([
  [0, 0, /✓ clock {8}this machine and the API server agree \(within \d+ ms\)/],
  [
    -3_600_000,
    1,
    /✗ clock {8}this machine's clock is (59m59s|1h) behind that of the API server\n {4}fix: synchronize it with NTP/,
  ],
  [3_600_000, 1, /✗ clock {8}this machine's clock is (59m59s|1h) ahead of that of the API server/],
])("a clock that is %d ms off: exit code %d", async (offMs, code, words) => {
  const home = await mkdtemp(join(tmpdir(), "tenure-doctor-"));
  const sandbox = await startSandbox();
  try {
    await sandbox.writeKubeconfig(join(home, "kubeconfig"));
    const platform = fakePlatform("doctor", { home, env: { KUBECONFIG: join(home, "kubeconfig") } });
    const clock: Clock = {
      ...systemClock,
      now: () => ({ ...systemClock.now(), wallMs: Date.now() + offMs }),
    };
    platform.clock = clock;
    expect(await runCommandLine(platform)).toBe(code);
    expect(platform.printed).toMatch(words);
  } finally {
    await sandbox.close();
    await rm(home, { recursive: true });
  }
});
