import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { DescriptorOutput } from "./descriptor-output.ts";

/** A reader with room for a few bytes. */
function newReader(room: number) {
  const reader = { room, text: "", failure: undefined as string | undefined };
  const clock = new VirtualClock();
  const output = new DescriptorOutput(1, clock, async (_descriptor, bytes) => {
    const code = reader.failure ?? (reader.room === 0 ? "EAGAIN" : undefined);
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    const part = bytes.subarray(0, reader.room);
    reader.room -= part.length;
    reader.text += Buffer.from(part).toString();
    return part.length;
  });
  return { reader, clock, output };
}

it("writes the rest when the reader has room again, and reports that it must wait", async () => {
  const { reader, clock, output } = newReader(3);
  let isDone = false;
  output.write("hello", () => {
    isDone = true;
  });
  await clock.pass(1_000);
  expect([reader.text, isDone]).toEqual(["hel", false]);
  reader.room = 10;
  await clock.pass(10);
  expect([reader.text, isDone, clock.armed]).toEqual(["hello", true, 0]);
});

it("reports a reader that is gone", async () => {
  const { reader, clock, output } = newReader(3);
  reader.failure = "EPIPE";
  const errors: Error[] = [];
  output.on("error", (error) => errors.push(error));
  output.write("hello");
  await clock.pass(0);
  expect(errors).toMatchObject([{ code: "EPIPE" }]);
});
