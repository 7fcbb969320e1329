import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));

test("the process is touched in platform.ts only", () => {
  const breaches = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && path !== "platform.ts")
    .filter((path) =>
      /\bprocess\.|\bsetTimeout\(|\bDate\.now\(|\bMath\.random\(/.test(readFileSync(root + path, "utf8")),
    );
  expect(breaches).toEqual([]);
});
