/** Maps an error of an election to the message and the exit code of the command. */
import { ElectionError } from "@tenure/election";
import { KubeError } from "@tenure/kube";
import { CliError } from "../errors.ts";

/** The error to end the command with. An unknown error is returned unchanged. */
export function failureOf(error: unknown): unknown {
  if (error instanceof ElectionError) {
    if (error.code === "DuplicateIdentity" || error.code === "Denied") {
      return new CliError("Refused", error.message, { cause: error });
    }
    const code = error.code === "InvalidOptions" ? "Usage" : "Failed";
    return new CliError(code, error.message, { cause: error });
  }
  if (error instanceof KubeError) return new CliError("Failed", error.message, { cause: error });
  // Recognized by name, so that commands without a child do not load the supervisor.
  if (error instanceof Error && error.name === "SupervisorError") {
    const code = (error as { code?: unknown }).code === "InvalidOptions" ? "Usage" : "Failed";
    return new CliError(code, error.message, { cause: error });
  }
  return error;
}
