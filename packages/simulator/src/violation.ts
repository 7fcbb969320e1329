/** What the checks report, and about whom. */
import type { LeaderRecord } from "@tenure/core";

/** Every check, and the guarantee that it is about. `--all-bugs` proves that each can fail. */
export const checks = {
  overlap: "G1",
  "work-after-lease": "G1",
  "early-acquisition": "G1",
  token: "G2",
  release: "G3",
  "foreign-data": "G3",
  "late-acquisition": "G4",
  "no-leader": "G4",
  pause: "orders",
  transfer: "orders",
} as const;

export type Check = keyof typeof checks;

export interface Violation {
  readonly rule: (typeof checks)[Check];
  readonly check: Check;
  readonly atMs: number;
  readonly message: string;
}

export interface CheckedCandidate {
  readonly id: string;
  readonly kind: "tenure" | "client-go";
  readonly leaseMs: number;
  /** The lock objects that it must hold to work: both, or one of them, during a migration. @default the only one */
  readonly objects?: readonly number[];
  /** It has a low priority or does not fail over, so a free lock may wait for it. @default false */
  readonly mayHesitate?: boolean;
  /** It gets its credentials from a plugin, which takes its time and may fail: it may acquire a free lock later. @default false */
  readonly asksPlugin?: boolean;
  /** Whether it had seen this lock object when it sent this record. @default it had */
  knewWhenSending?(record: LeaderRecord, uid: string): boolean;
}
