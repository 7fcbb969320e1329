import { afterEach, expect, it, vi } from "vitest";
import { environment } from "./platform.ts";

afterEach(() => void vi.unstubAllEnvs());

it("treats an empty environment variable as unset", () => {
  vi.stubEnv("TENURE_TEST", "");
  expect(environment("TENURE_TEST")).toBeUndefined();
  vi.stubEnv("TENURE_TEST", "x");
  expect(environment("TENURE_TEST")).toBe("x");
});
