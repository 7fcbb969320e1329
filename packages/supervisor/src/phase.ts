/**
 * The phases of a replica and their transitions, as a pure table.
 *
 *     follower ── elected ──► pre-leader ── ready ──► leader ── ending ──► pre-follower ── stopped ──► follower
 *                                 └── start-failed ──► follower        terminate: from every phase to terminating, the last
 */
export type Phase = "follower" | "pre-leader" | "leader" | "pre-follower" | "terminating";

export type PhaseEvent =
  /** The election was won; the child is being started. */
  | "elected"
  /** The child is ready. */
  | "ready"
  /** The child did not become ready. It and its descendants have exited. */
  | "start-failed"
  /** The term ends, on purpose or by loss; the child is being stopped. */
  | "ending"
  /** The child and its descendants have exited. */
  | "stopped"
  /** The run ends. */
  | "terminate";

const table: Readonly<Record<Phase, Readonly<Partial<Record<PhaseEvent, Phase>>>>> = {
  follower: { elected: "pre-leader", terminate: "terminating" },
  "pre-leader": {
    ready: "leader",
    "start-failed": "follower",
    ending: "pre-follower",
    terminate: "terminating",
  },
  leader: { ending: "pre-follower", terminate: "terminating" },
  "pre-follower": { stopped: "follower", terminate: "terminating" },
  terminating: {},
};

/** The phase after the event. An event that has no meaning in a phase does not change it. */
export function nextPhase(phase: Phase, event: PhaseEvent): Phase {
  return table[phase][event] ?? phase;
}
