/**
 * The two time types of the API. Time has whole seconds. MicroTime has exactly six decimals, and the API rejects any
 * other number. Error messages have the wording of Go's time.Parse.
 */

const secondsLayout = "2006-01-02T15:04:05Z07:00";
const microsLayout = "2006-01-02T15:04:05.000000Z07:00";

/** Milliseconds since 1970, as a metav1.Time. */
export function formatTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}

/**
 * A time that is normal already, as servers and most clients write it. It needs no parser. February 29 does, because not every year has
 * it.
 */
const date =
  "\\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)";
const seconds = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d";
const normalTime = new RegExp(`^${date}T${seconds}Z$`);
const normalMicroTime = new RegExp(`^${date}T${seconds}\\.\\d{6}Z$`);

/** Normalises a metav1.Time to UTC without decimals. */
export function parseTime(text: string): string {
  if (normalTime.test(text)) return text;
  const { wallMs } = parse(text, secondsLayout, /^(\.\d+)?/, "");
  return formatTime(wallMs);
}

/** Normalises a metav1.MicroTime to UTC. */
export function parseMicroTime(text: string): string {
  if (normalMicroTime.test(text)) return text;
  const { wallMs, fraction } = parse(text, microsLayout, /^\.\d{6}/, ".000000");
  return `${new Date(wallMs).toISOString().slice(0, 19)}${fraction}Z`;
}

function parse(text: string, layout: string, fractionPattern: RegExp, fractionLayout: string) {
  let rest = text;
  const take = (pattern: RegExp, element: string): string => {
    const match = pattern.exec(rest);
    if (match === null) fail(`cannot parse ${quote(rest)} as ${quote(element)}`);
    const [taken] = match as RegExpExecArray;
    rest = rest.slice(taken.length);
    return taken;
  };
  const fail = (why: string): never => {
    throw new TimeError(
      `parsing time ${quote(text)}${why.startsWith(":") ? "" : ` as ${quote(layout)}: `}${why}`,
    );
  };

  const year = Number(take(/^\d{4}/, "2006"));
  take(/^-/, "-");
  const month = Number(take(/^\d{2}/, "01"));
  if (month < 1 || month > 12) fail(": month out of range");
  take(/^-/, "-");
  const day = Number(take(/^\d{2}/, "02"));
  take(/^T/, "T");
  const hour = Number(take(/^\d{2}/, "15"));
  if (hour > 23) fail(": hour out of range");
  take(/^:/, ":");
  const minute = Number(take(/^\d{2}/, "04"));
  if (minute > 59) fail(": minute out of range");
  take(/^:/, ":");
  const second = Number(take(/^\d{2}/, "05"));
  if (second > 59) fail(": second out of range");
  const fraction = take(fractionPattern, fractionLayout);
  const zone = take(/^(Z|[+-]\d{2}:\d{2})/, "Z07:00");
  if (rest !== "") fail(`: extra text: ${quote(rest)}`);
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  if (day < 1 || midnight.getUTCDate() !== day) fail(": day out of range");
  const offset =
    zone === "Z" ? 0 : Number(`${zone[0]}1`) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)));
  const wallMs = midnight.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000;
  return { wallMs, fraction };
}

export class TimeError extends Error {
  override readonly name = "TimeError";
}

/** Go's time package quotes differently: it shows characters outside ASCII byte by byte. */
const quote = (text: string) => `"${[...Buffer.from(text)].map(showByte).join("")}"`;

function showByte(byte: number): string {
  if (byte < 0x20 || byte >= 0x80) return `\\x${byte.toString(16).padStart(2, "0")}`;
  const character = String.fromCharCode(byte);
  return character === '"' || character === "\\" ? `\\${character}` : character;
}
