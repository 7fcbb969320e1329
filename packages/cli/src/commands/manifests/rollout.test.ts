import { describe, expect, it } from "vitest";
import { isAmount, type RollingUpdate, resolveAmounts, rolloutDeadlock } from "./rollout.ts";

/**
 * Simulates the Deployment controller step by step. Only the pod that holds the lease is Ready, and the lease becomes free when
 * the old leader is stopped. Returns whether the rollout finishes.
 */
function simulateRollout(replicas: number, strategy: RollingUpdate): boolean {
  const { unavailable, surge } = resolveAmounts(replicas, strategy);
  const minAvailable = replicas - unavailable;
  let old = replicas;
  let fresh = 0;
  let isOldLeading = true;
  for (let step = 0; step < 10 * replicas; step++) {
    // When the old leader is gone, any pod may take the lease. The worst case is an old one.
    if (!isOldLeading && old > 0) isOldLeading = true;
    const oldAvailable = isOldLeading ? 1 : 0;
    const freshAvailable = !isOldLeading && fresh > 0 ? 1 : 0;
    if (old === 0) return fresh === replicas;
    const scaleUp = Math.min(replicas + surge - (old + fresh), replicas - fresh);
    if (scaleUp > 0) {
      fresh += scaleUp;
      continue;
    }
    const mostDown = old + fresh - minAvailable - (fresh - freshAvailable);
    if (mostDown <= 0) return false;
    const unhealthy = Math.min(mostDown, old - oldAvailable);
    old -= unhealthy;
    const down = Math.min(old, Math.max(0, oldAvailable + freshAvailable - minAvailable));
    old -= down;
    if (down > 0) isOldLeading = false;
    if (unhealthy + down === 0) return false;
    if (old === 0) fresh = replicas;
  }
  return false;
}

describe("rolloutDeadlock", () => {
  it("agrees with the simulated controller for every small Deployment", () => {
    let rejected = 0;
    for (let replicas = 1; replicas <= 6; replicas++) {
      for (let maxUnavailable = 0; maxUnavailable <= replicas; maxUnavailable++) {
        for (let maxSurge = 0; maxSurge <= replicas; maxSurge++) {
          const strategy = { maxUnavailable, maxSurge };
          const deadlock = rolloutDeadlock(replicas, strategy);
          expect({ replicas, ...strategy, ends: deadlock === undefined }).toEqual({
            replicas,
            ...strategy,
            ends: simulateRollout(replicas, strategy),
          });
          if (deadlock) rejected++;
        }
      }
    }
    expect(rejected).toBeGreaterThan(50);
  });

  it("describes the deadlock with its numbers", () => {
    expect(rolloutDeadlock(3, { maxUnavailable: "25%", maxSurge: "25%" })).toBe(
      "only the leader is Ready, so 1 of 3 pods is available, and maxUnavailable 25% (0 of 3) keeps the old leader " +
        "until more than 3 are: the new pods would wait for its lease forever",
    );
    expect(rolloutDeadlock(3, { maxUnavailable: 2, maxSurge: 0 })).toContain("until more than 1 are");
  });

  it("accepts both ways to replace all pods at once", () => {
    expect(rolloutDeadlock(3, "recreate")).toBeUndefined();
    expect(rolloutDeadlock(3, { maxUnavailable: "100%", maxSurge: 0 })).toBeUndefined();
  });
});

describe("resolveAmounts", () => {
  it("rounds like the Deployment controller", () => {
    expect(resolveAmounts(3, { maxUnavailable: "25%", maxSurge: "25%" })).toEqual({
      unavailable: 0,
      surge: 1,
    });
    expect(resolveAmounts(3, { maxUnavailable: "67%", maxSurge: 0 })).toEqual({ unavailable: 2, surge: 0 });
    expect(resolveAmounts(3, { maxUnavailable: "10%", maxSurge: 0 })).toEqual({ unavailable: 1, surge: 0 });
  });
});

it("recognizes amounts", () => {
  expect([0, 3, "0%", "25%", "100%"].every(isAmount)).toBe(true);
  expect([-1, 1.5, "25", "101%", "%", "x"].some(isAmount)).toBe(false);
});
