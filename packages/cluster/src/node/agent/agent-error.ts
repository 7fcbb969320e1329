/** A request that the agent rejects. The API server passes the message on to the user. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  /** The HTTP status. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
