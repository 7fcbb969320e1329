import { describe, expect, it } from "vitest";
import { decideElection, type ElectionCandidate, type ElectionLease } from "./coordinated-election.ts";

const nowMs = 1_000_000;

const candidate = (name: string, facts: Partial<ElectionCandidate> = {}): ElectionCandidate => ({
  name,
  binaryVersion: "1.2.0",
  emulationVersion: "1.2.0",
  strategy: "OldestEmulationVersion",
  createdMs: nowMs - 60_000,
  renewMs: nowMs - 100,
  pingMs: Number.NaN,
  ...facts,
});

const lease = (holder: string, facts: Partial<ElectionLease> = {}): ElectionLease => ({
  holder,
  preferredHolder: "",
  expiresMs: nowMs + 10_000,
  ...facts,
});

const strategy = "OldestEmulationVersion";
const decide = (candidates: ElectionCandidate[], of?: ElectionLease) =>
  decideElection(candidates, of, nowMs).actions;

describe("decideElection", () => {
  it.each<[string, ElectionLease | undefined]>([
    ["there is no Lease", undefined],
    ["the Lease was released", lease("")],
    ["the Lease has expired", lease("gone", { expiresMs: nowMs })],
  ])("names a leader if %s", (_, of) =>
    expect(decide([candidate("a")], of)).toEqual([{ type: "name", holder: "a", strategy }]),
  );

  it.each<[string, Partial<ElectionCandidate>, Partial<ElectionCandidate>]>([
    [
      "the lowest emulation version",
      { emulationVersion: "1.10.0", binaryVersion: "1.10.0" },
      { emulationVersion: "1.9.0", binaryVersion: "1.11.0" },
    ],
    ["then the lowest version", { binaryVersion: "1.3.0" }, { binaryVersion: "1.2.1" }],
    ["then the oldest", { createdMs: nowMs - 5 }, { createdMs: nowMs - 6 }],
  ])("prefers %s", (_, other, better) =>
    expect(decide([candidate("a", other), candidate("b", better)])).toMatchObject([{ holder: "b" }]),
  );

  it("leaves a holder alone that is the best", () =>
    expect(decideElection([candidate("a"), candidate("b", { createdMs: nowMs })], lease("a"), nowMs)).toEqual(
      {
        actions: [],
        againMs: 5_000,
      },
    ));

  it("asks the holder to make way for a better candidate, once", () => {
    const both = [candidate("a"), candidate("b", { emulationVersion: "1.1.0" })];
    expect(decide(both, lease("a"))).toEqual([{ type: "prefer", holder: "b", strategy }]);
    expect(decide(both, lease("a", { preferredHolder: "b" }))).toEqual([]);
  });

  it("asks candidates that were silent for 5 s whether they are alive, before it chooses", () =>
    expect(decide([candidate("a", { renewMs: nowMs - 5_000 }), candidate("b")])).toEqual([
      { type: "ping", name: "a" },
    ]));

  it("waits 5 s for the answer", () => {
    const asked = candidate("a", { renewMs: nowMs - 60_000, pingMs: nowMs - 4_000 });
    expect(decideElection([asked, candidate("b")], undefined, nowMs)).toEqual({
      actions: [],
      againMs: 1_000,
    });
  });

  it("then chooses among those that are alive", () => {
    const dead = candidate("a", { renewMs: nowMs - 60_000, pingMs: nowMs - 5_000 });
    expect(decide([dead, candidate("b")])).toEqual([{ type: "name", holder: "b", strategy }]);
  });

  it("lets the highest version decide on the strategy, and does nothing if it is not its own", () => {
    const foreign = candidate("a", { binaryVersion: "1.3.0", strategy: "example.com/other" });
    expect(decide([foreign, candidate("b")])).toEqual([]);
    expect(decide([candidate("a", { strategy: "example.com/other" }), candidate("b")])).toEqual([]);
  });

  it("does nothing without candidates", () =>
    expect(decideElection([], lease(""), nowMs)).toEqual({ actions: [], againMs: undefined }));
});
