/** Taints of nodes, and which pods tolerate them. */
import type { Taint, Toleration } from "../client/objects.ts";

export function tolerates(
  { key, operator = "Equal", value = "", effect }: Toleration,
  taint: Taint,
): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  // Without a key, only "Exists" is valid, and it tolerates everything.
  if (operator === "Exists") return true;
  return operator === "Equal" && !!key && value === (taint.value ?? "");
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[] = []): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}
