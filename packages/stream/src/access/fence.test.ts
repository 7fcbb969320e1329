import { afterEach, expect, it, vi } from "vitest";
import { fenceMetadata } from "./fence.ts";

afterEach(() => vi.unstubAllEnvs());

it("is empty outside of tenure run", () => {
  for (const name of ["TENURE_TOKEN", "TENURE_IDENTITY", "TENURE_ELECTION"]) vi.stubEnv(name, "");
  expect(fenceMetadata().getMap()).toEqual({});
});

it("prefers the given values to the environment", () => {
  vi.stubEnv("TENURE_TOKEN", "1");
  vi.stubEnv("TENURE_IDENTITY", "a");
  vi.stubEnv("TENURE_ELECTION", "prod/orders");
  expect(fenceMetadata({ token: 12345678901234567890n }).getMap()).toEqual({
    "tenure-token": "12345678901234567890",
    "tenure-identity": "a",
    "tenure-election": "prod/orders",
  });
});
