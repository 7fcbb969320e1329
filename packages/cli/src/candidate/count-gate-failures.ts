/** Counts the failures of a gate for the metrics. The caller of the gate sees them as before. */
import type { Gate } from "@tenure/traffic";

/** @param kind the kind of gate, as in the flags: `label` */
export type GateFailure = (kind: string, action: "open" | "check" | "close") => void;

export function countFailures(gate: Gate, kind: string, onFailure: GateFailure): Gate {
  const counted = async (action: "open" | "close", act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      onFailure(kind, action);
      throw error;
    }
  };
  return {
    name: gate.name,
    // The watchdog removes this file if tenure is killed or frozen.
    ...(gate.path !== undefined && { path: gate.path }),
    prepare: async () => gate.prepare?.(),
    takeOver: async (term) => gate.takeOver?.(term),
    open: (term) => counted("open", () => gate.open(term)),
    renewed: (term) => gate.renewed?.(term),
    close: () => counted("close", () => gate.close()),
  };
}
