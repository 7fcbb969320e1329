/** A short soak test: the whole system, four handovers and a crash. `npm run soak` runs the long one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { atTheEnd, closeAll } from "./support.ts";

afterEach(closeAll);

it("20,000 messages through 4 handovers and a crash: none lost, and only those in flight at the crash start twice", {
  timeout: 240_000,
}, async () => {
  const program = fileURLToPath(new URL("./soak.mjs", import.meta.url));
  const flags = ["--messages", "20000", "--handovers", "4", "--crashes", "1", "--concurrency", "16"];
  const child = spawn(process.execPath, [program, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  atTheEnd(() => child.kill("SIGTERM"));
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  expect([await once(child, "exit"), text]).toEqual([[0, null], text]);
  const figure = (name: string) => new RegExp(`^${name} +(.*)$`, "m").exec(text)?.[1];
  expect(figure("messages")).toMatch(/^20000, finished 20000/);
  expect(figure("terms")).toBe("6, 1 ended by a crash, 4 streams ended by a leave");
  expect(figure("lost")).toBe("0");
  expect(figure("finished twice")).toBe("0");
});
