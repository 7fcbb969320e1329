/** The program of the child, with the environment that tells it about its term. */
import { inheritedEnvironment } from "./platform.ts";
import { markerVariable } from "./process/process-tree.ts";
import type { Program } from "./process/spawn.ts";
import type { ResolvedOptions } from "./resolve-options.ts";

interface StartFacts {
  /** Different for each start. */
  readonly marker: string;
  readonly token: bigint | undefined;
  readonly deadlinePath: string | undefined;
}

export function childProgram(options: ResolvedOptions, { marker, token, deadlinePath }: StartFacts): Program {
  const { command, args, cwd, user, env, electionName, election, warm } = options;
  const inherited = inheritedEnvironment();
  // An outer supervisor must find this child too, so its markers are kept.
  const markers = [inherited[markerVariable], marker].filter(Boolean).join(" ");
  return {
    command,
    args,
    cwd,
    user,
    env: {
      ...inherited,
      ...env,
      TENURE_IDENTITY: election.identity,
      TENURE_ELECTION: electionName,
      TENURE_TOKEN: token === undefined || warm ? undefined : String(token),
      TENURE_DEADLINE_FILE: deadlinePath,
      [markerVariable]: markers,
    },
  };
}
