import { expect, it } from "vitest";
import { EventParser } from "./event-parser.ts";

it("finds the data of events, however the text is cut", () => {
  const text =
    'retry: 1000\nid: 1\nevent: state\ndata: {"a":1}\n\n: still here\n\ndata: x\r\ndata: y\r\n\r\ndata: cut';
  for (const size of [1, 2, 7, 1_000]) {
    const seen: string[][] = [];
    const parser = new EventParser((data, event) => seen.push([event, data]));
    for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size));
    expect(seen).toEqual([
      ["state", '{"a":1}'],
      ["message", "x\ny"],
    ]);
  }
});
