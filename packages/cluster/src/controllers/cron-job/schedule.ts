/** The schedules of CronJobs: five fields, or a name such as @hourly. */

/** The values of each field that match. */
export interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** If both days are restricted, one of them is enough. */
  readonly isAnyDay: boolean;
}

const names: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const dayNames = "sun mon tue wed thu fri sat".split(" ");
const minuteMs = 60_000;
/** A schedule that matches no day within these years, such as 30 February, never does. */
const searchYears = 9;

/** Throws an error with one sentence if the text is no schedule. */
export function parseSchedule(text: string): Schedule {
  const fields = (names[text.trim()] ?? text).trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (!minute || !hour || !day || !month || !weekday || fields.length > 5)
    throw new Error(
      `The schedule must have five fields, or be a name such as @hourly: ${JSON.stringify(text)}`,
    );
  const weekdays = new Set([...parseField(weekday, 0, 7, dayNames, 0)].map((value) => value % 7));
  return {
    minutes: parseField(minute, 0, 59),
    hours: parseField(hour, 0, 23),
    days: parseField(day, 1, 31),
    months: parseField(month, 1, 12, monthNames, 1),
    weekdays,
    isAnyDay: isRestricted(day) && isRestricted(weekday),
  };
}

const isRestricted = (field: string) => !/^[*?]/.test(field);

function parseField(
  field: string,
  least: number,
  most: number,
  words: readonly string[] = [],
  firstWord = 0,
): Set<number> {
  const values = new Set<number>();
  const number = (text: string) => {
    const word = words.indexOf(text.toLowerCase());
    const value = word >= 0 ? word + firstWord : /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new Error(
        `The schedule has a field that is not from ${least} to ${most}: ${JSON.stringify(field)}`,
      );
    return value;
  };
  for (const part of field.split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const every = Number(step);
    if (!(Number.isInteger(every) && every > 0))
      throw new Error(`The schedule has a step that is not a whole number from 1: ${JSON.stringify(field)}`);
    const isAll = range === "*" || range === "?";
    const [from = "", to] = range.split("-");
    const first = isAll ? least : number(from);
    const last = isAll || (to === undefined && part.includes("/")) ? most : number(to ?? from);
    for (let value = first; value <= last; value += every) values.add(value);
  }
  return values;
}

/** The fields of a moment in a time zone. */
interface Moment {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

/** Throws if there is no such time zone. @param timeZone UTC if it is missing */
export function momentsIn(timeZone: string | undefined): (ms: number) => Moment {
  if (timeZone === undefined || timeZone === "UTC" || timeZone === "Etc/UTC") {
    return (ms) => {
      const date = new Date(ms);
      return {
        minute: date.getUTCMinutes(),
        hour: date.getUTCHours(),
        day: date.getUTCDate(),
        month: date.getUTCMonth() + 1,
        weekday: date.getUTCDay(),
      };
    };
  }
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    minute: "numeric",
    hour: "numeric",
    day: "numeric",
    month: "numeric",
    weekday: "short",
  });
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return {
      minute: Number(parts.minute),
      hour: Number(parts.hour),
      day: Number(parts.day),
      month: Number(parts.month),
      weekday: dayNames.indexOf((parts.weekday ?? "").toLowerCase()),
    };
  };
}

/** The first moment after `ms` that matches. Undefined if there is none. */
export function nextTime(
  schedule: Schedule,
  ms: number,
  momentOf: (ms: number) => Moment,
): number | undefined {
  const endMs = ms + searchYears * 366 * 24 * 60 * minuteMs;
  let at = (Math.floor(ms / minuteMs) + 1) * minuteMs;
  while (at < endMs) {
    const moment = momentOf(at);
    const isDay = schedule.months.has(moment.month) && matchesDay(schedule, moment);
    // The rest of an hour that does not match is skipped.
    if (!isDay || !schedule.hours.has(moment.hour)) at += (60 - moment.minute) * minuteMs;
    else if (!schedule.minutes.has(moment.minute)) at += minuteMs;
    else return at;
  }
  return undefined;
}

function matchesDay({ days, weekdays, isAnyDay }: Schedule, { day, weekday }: Moment): boolean {
  return isAnyDay ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday);
}
