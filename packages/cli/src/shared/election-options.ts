/** The flags of an election, the same for every command that takes part in one. Cheap to load; see election-from.ts. */
import { type Command, Option } from "commander";

export interface ElectionFlags {
  leaseLockName?: string;
  id?: string;
  lock?: string;
  preset?: string;
  leaseDuration?: string;
  renewDeadline?: string;
  retryPeriod?: string;
  renewInterval?: string;
  cooldown?: string;
  announce?: boolean;
  waitWhenAbsent?: boolean;
  failWhenDenied?: boolean;
  logLeaderEvery?: string;
}

/** The kinds of --lock. */
export const lockKinds = ["lease", "configmap", "endpoints", "configmap+lease", "endpoints+lease"] as const;

/** @param defaultName what --lease-lock-name is if it is not given; without it, it must be */
export function addElectionOptions(command: Command, defaultName?: string): void {
  const name = new Option("--lease-lock-name <name>", "name of the lock that all replicas share");
  if (defaultName !== undefined) name.default(defaultName);
  const options = [
    name,
    new Option("--id <identity>", "who this replica is; differs between any two (default: $POD_NAME)"),
    new Option(
      "--lock <kind>",
      `what the lock is: ${lockKinds.join(", ")}; two of them to move from one to the other`,
    ).default("lease"),
    new Option(
      "--preset <name>",
      "for the next three: standard 15s 10s 2s, fast-failover 10s 8s 1s, low-load 60s 45s 5s",
    ).default("standard"),
    new Option("--lease-duration <duration>", "how long the others wait after the last renewal"),
    new Option("--renew-deadline <duration>", "how long after its last renewal a leader stops by itself"),
    new Option("--retry-period <duration>", "the longest pause between two tries"),
    new Option(
      "--renew-interval <duration>",
      "how often a healthy leader renews (default: lease-duration / 5)",
    ),
    new Option(
      "--cooldown <duration>",
      "how long to keep out after giving leadership up, for another one to win",
    ),
    new Option("--announce", "record Kubernetes Events when leadership changes; needs create on events"),
    new Option(
      "--wait-when-absent",
      "wait one lease-duration where there is no lock: it may have been deleted",
    ),
    new Option("--fail-when-denied", "end with exit code 3 when the API server refuses, not try again"),
    new Option(
      "--log-leader-every <duration>",
      "say who leads also when nothing changed; 0s: do not",
    ).default("5s"),
  ];
  for (const option of options) command.addOption(option.helpGroup("Election:"));
}
