/** Connections that begin with one line. */
import { connect, type Socket } from "node:net";

/** Connects to a Unix socket and sends a line of JSON. Resolves with the line that comes back. The rest stays in the socket. */
export async function ask(path: string, request: object): Promise<{ answer: string; socket: Socket }> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.write(`${JSON.stringify(request)}\n`);
  const answer = await readLine(socket);
  return { answer, socket };
}

/** Reads the first line. Rejects if the connection ends before. */
export function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = Buffer.alloc(0);
    const settle = () => {
      socket.off("data", onData).off("close", onClose).off("error", onError);
      // Whoever takes the connection over reads on.
      socket.pause();
    };
    const onData = (bytes: Buffer) => {
      text = Buffer.concat([text, bytes]);
      const end = text.indexOf(10);
      if (end < 0) return;
      settle();
      if (text.length > end + 1) socket.unshift(text.subarray(end + 1));
      resolve(text.subarray(0, end).toString("utf8"));
    };
    const onError = (error: Error) => {
      settle();
      reject(error);
    };
    const onClose = () => onError(new Error("The connection was closed."));
    socket.on("data", onData).once("close", onClose).once("error", onError);
  });
}
