/** Reads the lines of a stream that is forwarded at the same time. */
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Only this much of a longer line is read. */
const longestLine = 64 * 1_024;

/** Calls back with each complete line. The returned function removes the callback. Other readers still get all the bytes. */
export function eachLine(stream: Readable, onLine: (line: string) => void): () => void {
  const decoder = new StringDecoder("utf8");
  let partial = "";
  const onData = (chunk: Buffer) => {
    const parts = decoder.write(chunk).split("\n");
    parts[0] = partial + parts[0];
    partial = (parts.pop() ?? "").slice(0, longestLine);
    for (const line of parts) onLine(line.replace(/\r$/, ""));
  };
  const onEnd = () => {
    if (partial !== "") onLine(partial);
  };
  stream.on("data", onData);
  stream.once("end", onEnd);
  return () => {
    stream.off("data", onData);
    stream.off("end", onEnd);
  };
}
