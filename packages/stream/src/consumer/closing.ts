/**
 * The shutdown in four steps: take nothing more, finish what is in flight, end the stream, close the connection.
 *
 * A gRPC client has no way to end a server stream: its side is closed since the request was sent, and all that it can send is
 * RST_STREAM with CANCEL. That is no failure of the connection: the server sees the call cancelled, in a connection that goes on
 * and then says goodbye (GOAWAY without an error). Where a service offers a call by which a consumer takes its leave, `onDrain`
 * makes it, and the server itself ends the stream with status OK.
 */

import { asError } from "../errors.ts";
import type { ShutdownReport } from "../events.ts";
import type { Deadline } from "./deadline.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Reading } from "./reading.ts";

export interface Closing<Message, Cursor> {
  readonly deliveries: Deliveries<Message, Cursor>;
  /** It takes nothing any more. */
  readonly reading: Reading<Message> | undefined;
  readonly deadline: Deadline;
  readonly onDrain: (() => unknown) | undefined;
  /** Tells the handlers that nobody waits for them any longer. */
  readonly giveUp: () => void;
  readonly closeConnection: () => void;
}

/** Frames are written in the turn after; a process that ends before has only slammed the door. */
const turnsToWrite = 3;

export async function close<Message, Cursor>(parts: Closing<Message, Cursor>): Promise<ShutdownReport> {
  const { deliveries, deadline } = parts;
  deliveries.drain();

  await deadline.within(deliveries.idle());
  const abandoned = deliveries.inFlight;
  if (abandoned > 0) parts.giveUp();
  deliveries.abandon();

  const { streamEnd, complaint } = await endStream(parts, abandoned === 0);
  deadline.cancel();

  parts.closeConnection();
  for (let turn = 0; turn < turnsToWrite; turn++) await new Promise((resolve) => setImmediate(resolve));

  const { givenUp } = deliveries;
  const work = [
    ...(abandoned > 0 ? [`${messages(abandoned)} still in flight when the drain time was over`] : []),
    ...(givenUp > 0 ? [`${messages(givenUp)} given up as the handler threw`] : []),
  ];
  if (work.length === 0) work.push("every message in flight was finished");
  const message = [...work, ends[streamEnd], ...complaint].join("; ");
  return { drained: abandoned === 0, abandoned, givenUp, streamEnd, message };
}

function messages(count: number): string {
  return count === 1 ? "1 message was" : `${count} messages were`;
}

const ends: Record<ShutdownReport["streamEnd"], string> = {
  server: "the server ended the stream",
  cancelled: "the stream was cancelled",
  broken: "the stream broke",
  none: "no stream was open",
};

async function endStream<Message, Cursor>(
  { reading, deadline, onDrain }: Closing<Message, Cursor>,
  isDrained: boolean,
): Promise<{ streamEnd: ShutdownReport["streamEnd"]; complaint: string[] }> {
  if (!reading) return { streamEnd: "none", complaint: [] };
  const complaint: string[] = [];
  if (onDrain && isDrained && !reading.isEnded) {
    // What the server sent before it hears of the leave is not taken: it belongs to the next consumer.
    reading.discard();
    try {
      // It may be that the call is answered and the stream goes on, or the other way round.
      await deadline.within(Promise.all([onDrain(), reading.ended]));
      if (!reading.isEnded) complaint.push("the server did not end it within the drain time");
    } catch (error) {
      complaint.push(`the leave was refused: ${asError(error).message}`);
    }
  }
  if (reading.isEnded) {
    const { error, isCancelled } = await reading.ended;
    return { streamEnd: isCancelled ? "cancelled" : error ? "broken" : "server", complaint };
  }
  reading.cancel();
  return { streamEnd: "cancelled", complaint };
}
