// @ts-check
/** Checks of a history that are about one register: stale writes, lost writes, reads of values that nobody wrote. */
import { initialValue } from "./history.mjs";
import { workerKey } from "./workers.mjs";

/**
 * @typedef {import("./history.mjs").History} History
 * @typedef {import("./history.mjs").Operation} Operation
 * @typedef {import("./history.mjs").RegisterName} RegisterName
 * @typedef {import("./term-checks.mjs").Finding} Finding
 * @typedef {import("./workers.mjs").Worker} Worker
 */

/**
 * @param {RegisterName} name
 * @param {History} history
 * @param {Map<string, Worker>} workers
 * @returns {{ findings: Finding[], late: number }} late: writes of an earlier term that an open register received after
 *   the first write of a later term, although they were sent before; a fenced register refuses them
 */
export function checkRegister(name, history, workers) {
  const operations = history.operations.filter(({ register }) => register === name);
  const accepted = operations
    .filter(({ outcome }) => outcome === "ok")
    // A read shows the state after the write with the same number.
    .sort((a, b) => a.seq - b.seq || (a.what === "read" ? 1 : 0) - (b.what === "read" ? 1 : 0));
  /**
   * Whether the operation was under way when the worker of the other one began.
   * @param {Operation} operation
   * @param {Operation} other
   */
  const isInFlightAtStart = (operation, other) => {
    const firstMs = workers.get(workerKey(other))?.firstMs ?? Number.POSITIVE_INFINITY;
    return operation.invokedMs < firstMs && firstMs <= operation.returnedMs;
  };
  /** A fence cannot tell apart two workers of one term. @param {Operation} operation @param {Operation} other */
  const isLate = (operation, other) =>
    (name === "open" || operation.token === other.token) && isInFlightAtStart(operation, other);

  const stale = findStaleWrites(name, history, accepted, isLate);
  return {
    findings: [
      ...stale.findings,
      ...findLostWrites(operations, accepted, isLate),
      ...findPhantomReads(operations),
      ...findDisorder(operations, accepted),
    ],
    late: stale.late,
  };
}

/** @typedef {(operation: Operation, other: Operation) => boolean} IsLate */

/**
 * @param {RegisterName} name
 * @param {History} history
 * @param {Operation[]} accepted
 * @param {IsLate} isLate
 */
function findStaleWrites(name, { resets }, accepted, isLate) {
  const forgets = resets.filter(({ register }) => register === name).map(({ seq }) => seq);
  /** @type {Finding[]} */
  const findings = [];
  let late = 0;
  /** @type {Operation | undefined} */
  let newest;
  for (const operation of accepted) {
    const previous = newest;
    if (previous && forgets.some((seq) => previous.seq <= seq && seq < operation.seq)) newest = undefined;
    if (!newest || operation.token >= newest.token) newest = operation;
    else if (operation.what === "read") continue;
    else if (isLate(operation, newest)) late += 1;
    else {
      findings.push({
        kind: "stale-write",
        atMs: operation.invokedMs,
        text: `the ${name} register accepted ${describe(operation)} after ${describe(newest)}`,
      });
    }
  }
  return { findings, late };
}

/**
 * A worker writes what it derives from the value that it knows. If the register held a later acknowledged value, that one
 * is lost: two leaders did not know of each other.
 * @param {Operation[]} operations
 * @param {Operation[]} accepted
 * @param {IsLate} isLate
 * @returns {Finding[]}
 */
function findLostWrites(operations, accepted, isLate) {
  const writes = accepted.filter(({ what }) => what === "write");
  // Reads too: they show the number of a write whose answer is missing.
  const seqs = new Map(accepted.map(({ value, seq }) => [value, seq]));
  seqs.set(initialValue, 0);
  const known = new Set(operations.filter(({ what }) => what === "write").map(({ value }) => value));
  return writes.flatMap((write, index) => {
    if (write.after !== initialValue && !known.has(write.after))
      return phantom(write, `${describe(write)} replaces ${write.after}, which nobody wrote`);
    // The outcome of the write that it replaces is unknown, and its effect was seen: nothing is between them.
    const afterSeq = seqs.get(write.after) ?? write.seq - 1;
    /** @type {Operation | undefined} */
    let lost;
    for (let at = index - 1; at >= 0; at -= 1) {
      const between = /** @type {Operation} */ (writes[at]);
      if (between.seq <= afterSeq) break;
      if (!isLate(write, between) && !isLate(between, write)) lost = between;
    }
    if (!lost) return [];
    const text = `${describe(lost)} was acknowledged and is lost: ${describe(write)} replaces ${write.after || "the initial value"}`;
    return { kind: /** @type {const} */ ("lost-write"), atMs: write.invokedMs, text };
  });
}

/**
 * @param {Operation[]} operations
 * @returns {Finding[]}
 */
function findPhantomReads(operations) {
  const writes = new Map(
    operations.filter(({ what }) => what === "write").map((write) => [write.value, write]),
  );
  return operations.flatMap((read) => {
    if (read.what !== "read" || read.outcome !== "ok" || read.value === initialValue) return [];
    const write = writes.get(read.value);
    if (!write) return phantom(read, `${read.id} read ${read.value}, which nobody wrote`);
    if (write.outcome === "refused") return phantom(read, `${read.id} read ${read.value}, which was refused`);
    if (write.invokedMs > read.returnedMs)
      return phantom(read, `${read.id} read ${read.value} before it was written`);
    return [];
  });
}

/**
 * The numbers of the register must agree with the order in time: an operation that begins after another one was
 * acknowledged sees its effect.
 * @param {Operation[]} operations in the order of their invocation
 * @param {Operation[]} accepted
 * @returns {Finding[]}
 */
function findDisorder(operations, accepted) {
  /** @type {Finding[]} */
  const findings = [];
  const values = new Map();
  for (const { what, seq, value, invokedMs } of accepted) {
    if (what === "write" && values.has(seq))
      findings.push({ kind: "register", atMs: invokedMs, text: `two writes have the number ${seq}` });
    if (what === "write") values.set(seq, value);
    else if (values.has(seq) && values.get(seq) !== value)
      findings.push({ kind: "register", atMs: invokedMs, text: `number ${seq} has two values` });
  }
  const byReturn = accepted.toSorted((a, b) => a.returnedMs - b.returnedMs);
  let seenSeq = 0;
  let returned = 0;
  for (const operation of operations) {
    if (operation.outcome !== "ok") continue;
    for (; returned < byReturn.length; returned += 1) {
      const earlier = /** @type {Operation} */ (byReturn[returned]);
      if (earlier.returnedMs >= operation.invokedMs) break;
      seenSeq = Math.max(seenSeq, earlier.seq);
    }
    const leastSeq = operation.what === "write" ? seenSeq + 1 : seenSeq;
    if (operation.seq >= leastSeq) continue;
    findings.push({
      kind: "lost-write",
      atMs: operation.invokedMs,
      text: `write number ${seenSeq} was acknowledged, and a later ${operation.what} of ${operation.id} has the number ${operation.seq}`,
    });
  }
  return findings;
}

/** @param {Operation} operation @param {string} text @returns {Finding} */
function phantom(operation, text) {
  return { kind: "phantom-read", atMs: operation.invokedMs, text };
}

/** @param {Operation} operation */
function describe({ id, token, value, what, invokedMs }) {
  return `the ${what} of ${value || "nothing"} by ${id} (token ${token}, sent at ${invokedMs.toFixed(0)})`;
}
