/**
 * Shuts down in four steps: take no more messages, finish those in flight, end the stream, close the connection.
 *
 * A gRPC client cannot end a server stream: its side is closed since it sent the request, and it can only send RST_STREAM with
 * CANCEL. That does not break the connection: the server sees one cancelled call, then a GOAWAY without an error. If a service
 * has a call with which a consumer unsubscribes, `onDrain` makes that call, and the server ends the stream with status OK. A
 * bidirectional stream with acknowledgements needs no such call: this side ends its own half, and the server ends the other.
 */
import { messageOf, nextTurn } from "@tenure/base";
import type { ShutdownReport } from "../events.ts";
import type { Deadline } from "./deadline.ts";
import type { Deliveries } from "./deliveries.ts";
import type { StreamReader } from "./stream-reader.ts";

interface DrainOptions<Message, Cursor> {
  readonly deliveries: Deliveries<Message, Cursor>;
  /** The reader of the open stream. It is already stopped. */
  readonly reader: StreamReader<Message> | undefined;
  readonly deadline: Deadline;
  readonly onDrain: (() => unknown) | undefined;
  /** Whether the stream is bidirectional and carries acknowledgements, so that this side can end it. */
  readonly isAcknowledged: boolean;
  readonly closeConnection: () => void;
}

/** Frames are written in later turns of the event loop. If the process exited before that, the peer would see a reset. */
const turnsToWrite = 3;

export async function drainAndClose<Message, Cursor>(
  options: DrainOptions<Message, Cursor>,
): Promise<ShutdownReport> {
  const { deliveries, deadline } = options;
  deliveries.drain();

  await deadline.within(deliveries.whenIdle());
  const abandoned = deliveries.inFlight;
  deliveries.abandon();

  const { streamEnd, notes } = await endStream(options, abandoned === 0);
  deadline.cancel();

  options.closeConnection();
  for (let turn = 0; turn < turnsToWrite; turn++) await nextTurn();

  const { givenUp } = deliveries;
  const work = [
    ...(abandoned > 0 ? [`${messages(abandoned)} still in flight when the drain time was over`] : []),
    ...(givenUp > 0 ? [`${messages(givenUp)} given up because the handler threw`] : []),
  ];
  if (work.length === 0) work.push("every message in flight was finished");
  const message = [...work, descriptions[streamEnd], ...notes].join("; ");
  return { drained: abandoned === 0, abandoned, givenUp, streamEnd, message };
}

function messages(count: number): string {
  return count === 1 ? "1 message was" : `${count} messages were`;
}

const descriptions: Record<ShutdownReport["streamEnd"], string> = {
  server: "the server ended the stream",
  cancelled: "the stream was cancelled",
  broken: "the stream broke",
  none: "no stream was open",
};

async function endStream<Message, Cursor>(
  { reader, deadline, onDrain, isAcknowledged }: DrainOptions<Message, Cursor>,
  isDrained: boolean,
): Promise<{ streamEnd: ShutdownReport["streamEnd"]; notes: string[] }> {
  if (!reader) return { streamEnd: "none", notes: [] };
  const notes: string[] = [];
  if ((onDrain || isAcknowledged) && isDrained && !reader.isEnded) {
    // Messages that the server sent before it received the call are discarded: they belong to the next consumer.
    reader.discard();
    try {
      if (isAcknowledged) reader.endWriting();
      // The response to the call and the end of the stream may come in either order.
      await deadline.within(Promise.all([onDrain?.(), reader.ended]));
      if (!reader.isEnded) notes.push("the server did not end it within the drain time");
    } catch (error) {
      notes.push(`onDrain failed: ${messageOf(error)}`);
    }
  }
  if (reader.isEnded) {
    const { error, isCancelled } = await reader.ended;
    return { streamEnd: isCancelled ? "cancelled" : error ? "broken" : "server", notes };
  }
  reader.cancel();
  return { streamEnd: "cancelled", notes };
}
