// @ts-check
/** A gRPC server that streams orders at a given rate and records which are finished. */
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { Ledger } from "./ledger.mjs";
import { Orders } from "./orders.mjs";

/** How often new orders are placed. */
const placeEveryMs = 20;

/**
 * @typedef {object} ServiceOptions
 * @property {string} [listen] host:port; default: a free port on loopback
 * @property {number} [rate] orders per second, default 100; Infinity places all at once
 * @property {number} [total] the most orders to place, default unlimited
 * @property {(line: string) => void} [log]
 * @property {(worker: string, token: bigint, count: number) => void} [onFinish] orders were finished
 *
 * @typedef {import("@grpc/grpc-js").ServerWritableStream<{ after: number }, import("./orders.mjs").Order>} SubscribeCall
 * @typedef {import("@grpc/grpc-js").ServerDuplexStream<{ step: string, after?: number, finished?: number }, import("./orders.mjs").Order>} ProcessCall
 * @typedef {SubscribeCall | ProcessCall} Call
 * @typedef {{ token: bigint, worker: string }} Caller
 */

/** @param {ServiceOptions} [options] */
export async function startService({
  listen = "127.0.0.1:0",
  rate = 100,
  total = Number.POSITIVE_INFINITY,
  log = () => {},
  onFinish = () => {},
} = {}) {
  const ledger = new Ledger();
  /** @type {Map<Call, { token: bigint, worker: string, leave(): void }>} */
  const streams = new Map();
  const server = new Server({
    "grpc.max_concurrent_streams": 1_000,
  });

  /** @param {import("@grpc/grpc-js").Metadata} metadata */
  const callerOf = (metadata) => ({
    token: BigInt(String(metadata.get("tenure-token")[0] ?? "0")),
    worker: String(metadata.get("tenure-identity")[0] ?? "unknown"),
  });
  /** @param {bigint} token */
  const stale = (token) => ({
    code: status.FAILED_PRECONDITION,
    details: `token ${token} is stale: ${ledger.highestToken} has been seen`,
  });
  /**
   * Rejects callers with a stale token.
   * @param {(request: any, caller: { token: bigint, worker: string }) => object} act
   */
  const fenced = (act) => (/** @type {any} */ call, /** @type {any} */ answer) => {
    const caller = callerOf(call.metadata);
    if (!ledger.admits(caller.token)) answer(stale(caller.token));
    else answer(null, act(call.request, caller));
  };

  server.addService(Orders.service, {
    subscribe(/** @type {SubscribeCall} */ call) {
      const caller = admit(call);
      if (caller) stream(call, caller, call.request.after);
    },
    process(/** @type {ProcessCall} */ call) {
      const caller = admit(call);
      if (!caller) return;
      call.on("data", (request) => {
        if (request.step === "after") stream(call, caller, request.after);
        // Between two requests, a later worker may have taken over.
        else if (!ledger.admits(caller.token)) end(call, stale(caller.token));
        else {
          ledger.finish(request.finished, caller.worker);
          onFinish(caller.worker, caller.token, 1);
        }
      });
      call.on("end", () => streams.get(call)?.leave());
    },
    finish: fenced(({ ids }, { worker, token }) => {
      for (const id of ids) ledger.finish(id, worker);
      onFinish(worker, token, ids.length);
      return {};
    }),
    leave: fenced((_request, { worker }) => {
      for (const entry of streams.values()) if (entry.worker === worker) entry.leave();
      return {};
    }),
    report(/** @type {unknown} */ _call, /** @type {any} */ answer) {
      answer(null, ledger.report());
    },
  });

  /**
   * Ends the call if its token is stale, and otherwise the streams of earlier workers.
   * @param {Call} call @returns {Caller | undefined}
   */
  function admit(call) {
    const { token, worker } = callerOf(call.metadata);
    if (!ledger.admits(token)) {
      call.emit("error", stale(token));
      return undefined;
    }
    for (const [other, { token: before }] of streams) if (before < token) end(other, stale(before));
    log(`${worker} subscribes with token ${token} after order ${ledger.prefix}`);
    return { token, worker };
  }

  /** @param {Call} call @param {Caller} caller @param {number} after */
  function stream(call, { token, worker }, after) {
    let next = Math.max(ledger.prefix, after) + 1;
    const send = () => {
      if (!streams.has(call)) return;
      for (; next <= ledger.placed; next++) {
        if (ledger.isFinished(next)) continue;
        ledger.give(next);
        const goesOn = call.write({ id: next, customer: `customer ${next % 1_000}`, cents: next % 10_000 });
        if (goesOn) continue;
        next++;
        call.once("drain", send);
        return;
      }
      ledger.whenPlaced(send);
    };
    const leave = () => {
      if (!streams.delete(call)) return;
      ledger.left++;
      log(`${worker} left: the stream has ended`);
      call.end();
    };
    streams.set(call, { token, worker, leave });
    for (const name of ["cancelled", "close", "error"]) {
      call.on(name, () => {
        if (!streams.delete(call)) return;
        ledger.dropped++;
        log(`${worker} disconnected without leaving`);
      });
    }
    send();
  }

  /** @param {Call} call @param {object} error */
  function end(call, error) {
    if (!streams.delete(call)) return;
    ledger.dropped++;
    call.emit("error", error);
  }

  let startedMs = performance.now();
  let due = 0;
  const place = () => {
    const wanted = Math.min(total, ((performance.now() - startedMs) / 1_000) * rate);
    const count = Math.floor(wanted) - due;
    if (count <= 0) return;
    due += count;
    ledger.place(count);
  };
  const timer = setInterval(place, placeEveryMs);

  /** @type {number} */
  const port = await new Promise((resolve, reject) =>
    server.bindAsync(listen, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  startedMs = performance.now();
  return {
    ledger,
    port,
    /** Stops placing new orders. */
    stopPlacing() {
      clearInterval(timer);
    },
    close() {
      clearInterval(timer);
      server.forceShutdown();
    },
  };
}
