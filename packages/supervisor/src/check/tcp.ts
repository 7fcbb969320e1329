/** Passes if the connection is accepted. */
import { connect } from "node:net";

export function checkTcp(
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const end = (settle: () => void) => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      settle();
    };
    const onAbort = () => end(() => reject(signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("connect", () => end(resolve));
    // Not `once`: a socket may fail again while it is being destroyed.
    socket.on("error", (error) => end(() => reject(error)));
  });
}
