/** The lines of a stream as text, for somebody who looks at them while they are passed on. */
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Of a longer line only the beginning is looked at. */
const longestLine = 64 * 1_024;

/** Calls back with each whole line until the result is called. Does not take the stream's bytes from others. */
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
