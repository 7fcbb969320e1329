/**
 * The phase of a replica.
 *
 *     follower ──► pre-leader ──► leader ──► pre-follower ──► follower         terminating: from any, and final
 *                      └── the child did not start ──► follower
 */
export type Phase = "follower" | "pre-leader" | "leader" | "pre-follower" | "terminating";
