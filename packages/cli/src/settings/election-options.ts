/** The flags of an election, the same for every command that takes part in one. Cheap to load; see candidate/create-election.ts. */
import { presets } from "@tenure/core";
import { type Command, Option } from "commander";
import { offer } from "./flag-values.ts";

export interface ElectionFlags {
  leaseLockName?: string;
  id?: string;
  lock?: string;
  lockListen?: string;
  preset?: string;
  leaseDuration?: string;
  renewDeadline?: string;
  retryPeriod?: string;
  renewInterval?: string;
  cooldown?: string;
  announce?: boolean;
  register?: boolean;
  waitWhenAbsent?: boolean;
  failWhenDenied?: boolean;
  priority?: string;
  failover?: boolean;
  logLeaderEvery?: string;
}

/** The values of --lock. */
export const lockChoices = ["lease", "configmap", "endpoints", "configmap+lease", "endpoints+lease"] as const;

const presetsHelp = Object.entries(presets)
  .map(([name, { leaseDuration, renewDeadline, retryPeriod }]) =>
    [name, leaseDuration, renewDeadline, retryPeriod].join(" "),
  )
  .join(", ");

/** @param defaultName the default of --lease-lock-name; without one, the flag is required */
export function addElectionOptions(command: Command, defaultName?: string): void {
  const name = new Option("--lease-lock-name <name>", "name of the lock, the same for all replicas");
  if (defaultName !== undefined) name.default(defaultName);
  const options = [
    name,
    new Option(
      "--id <identity>",
      "identity of this replica, different for each (default: $POD_NAME, else the name of the host and a random suffix)",
    ),
    offer(
      new Option(
        "--lock <kind>",
        `kind of the lock: ${lockChoices.join(", ")}; use a pair to migrate from one kind to the other; or the URL of a store: ` +
          "postgres://USER@HOST/DATABASE, etcd://HOST:2379/PREFIX, etcds://… with TLS",
      ).default("lease"),
      lockChoices,
    ),
    new Option(
      "--lock-listen <url>",
      "for a postgres lock behind a pooler: URL of the server itself, to listen for changes there",
    ),
    offer(
      new Option("--preset <name>", `values for the next three flags: ${presetsHelp}`).default("standard"),
      Object.keys(presets),
    ),
    new Option("--lease-duration <duration>", "how long other candidates wait after the last renewal"),
    new Option("--renew-deadline <duration>", "how long after its last renewal a leader stops leading"),
    new Option("--retry-period <duration>", "longest wait between two attempts"),
    new Option(
      "--renew-interval <duration>",
      "how often a healthy leader renews (default: lease-duration / 5)",
    ),
    new Option(
      "--cooldown <duration>",
      "how long to stay out after giving up leadership, so that another candidate can win",
    ),
    new Option(
      "--announce",
      "record a Kubernetes Event when leadership changes; needs the right to create events",
    ),
    new Option(
      "--no-register",
      "do not show this candidate to operators in a Lease of its own (needs the rights list, patch, delete on leases)",
    ),
    new Option(
      "--wait-when-absent",
      "if the lock does not exist, wait one lease duration first: it may have been deleted",
    ),
    new Option(
      "--fail-when-denied",
      "exit with code 3 when the API server denies access, instead of retrying",
    ),
    new Option(
      "--priority <number>",
      "from 0 to 10; each step below 10 waits 300ms longer for a free lock, so that a higher priority wins (default: 10)",
    ),
    new Option("--no-failover", "never become the leader, unless named by `tenure transfer`"),
    new Option(
      "--log-leader-every <duration>",
      "log who leads at this interval even if nothing changed; 0s turns it off",
    ).default("5s"),
  ];
  for (const option of options) command.addOption(option.helpGroup("Election:"));
}
