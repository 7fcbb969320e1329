/** What an election that could not go on says, and with which exit code. */
import { ElectionError } from "@tenure/election";
import { KubeError } from "@tenure/kube";
import { CliError } from "../errors.ts";

/** The error to end the command with; what is not known to be somebody's mistake is returned as it is. */
export function failureOf(error: unknown): unknown {
  if (error instanceof ElectionError) {
    if (error.code === "DuplicateIdentity" || error.code === "Denied") {
      return new CliError("REFUSED", error.message, { cause: error });
    }
    const code = error.code === "InvalidOptions" ? "USAGE" : "FAILED";
    return new CliError(code, error.message, { cause: error });
  }
  if (error instanceof KubeError) return new CliError("FAILED", error.message, { cause: error });
  // By its name, so that commands without a child do not load the supervisor.
  if (error instanceof Error && error.name === "SupervisorError") {
    const code = (error as { code?: unknown }).code === "InvalidOptions" ? "USAGE" : "FAILED";
    return new CliError(code, error.message, { cause: error });
  }
  return error;
}
