// @ts-check
/**
 * Judges what replicas wrote to one file. The order of the lines is the order of what they did, because each line is one append. The
 * harness adds lines about replicas that it killed or froze.
 */

/**
 * @typedef {object} Line
 * @property {string | undefined} token
 * @property {string} who
 * @property {"start" | "step" | "end" | "killed" | "frozen"} what
 */

/**
 * @param {string} text
 * @returns {Line | undefined}
 */
export function parseLine(text) {
  const [, fault, how] = /^- (\S+) was (killed|frozen)$/.exec(text) ?? [];
  if (fault) return { token: undefined, who: fault, what: how === "killed" ? "killed" : "frozen" };
  const [, token, who = "", verb = ""] =
    /^(?:(\d{20}) )?(\S+) (starts|sends|does|writes|ends|has sent) /.exec(text) ?? [];
  if (who === "") return undefined;
  const what = verb === "starts" ? "start" : verb === "ends" || verb === "has sent" ? "end" : "step";
  return { token, who, what };
}

/**
 * @param {string[]} lines
 * @returns {{ overlaps: string[], leaders: string[] }}
 */
export function judge(lines) {
  /** @type {string[]} */
  const overlaps = [];
  /** Replicas whose work has begun and has not ended. @type {Set<string>} */
  const working = new Set();
  /** @type {string[]} */
  const leaders = [];
  let highest = "";
  for (const [index, text] of lines.entries()) {
    const line = parseLine(text);
    if (!line) continue;
    const { token = "", who, what } = line;
    if (what === "killed" || what === "frozen" || what === "end") {
      working.delete(who);
      continue;
    }
    // A frozen replica that wakes up must not go on: its successor has a greater token.
    if (token < highest) overlaps.push(`line ${index + 1}: ${who} works with an older token`);
    for (const other of working)
      if (other !== who) overlaps.push(`line ${index + 1}: ${who} works while ${other} does`);
    if (token > highest) highest = token;
    if (what === "start") working.add(who);
    if (leaders.at(-1) !== who) leaders.push(who);
  }
  return { overlaps, leaders };
}
