/**
 * @tenure/election/opentelemetry: spans and metrics of elections. Needs the package @opentelemetry/api, version 1.9 or later, which the
 * rest of @tenure/election does not need. Without an SDK, the API does nothing.
 */
import {
  type Attributes,
  type Context,
  context,
  type Meter,
  metrics,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { systemClock } from "@tenure/base";
import type { Election } from "./election.ts";
import type { Term } from "./term.ts";

/** The options of `instrument`. */
export interface InstrumentOptions {
  /** The name of the election, as the attribute `tenure.election` of every span and measurement. @default none */
  readonly name?: string;
  /** @default that of the global provider */
  readonly tracer?: Tracer;
  /** @default that of the global provider */
  readonly meter?: Meter;
}

/** What `instrument` returns. */
export interface Instrumentation {
  /** The context of the term's span, so that the spans of the work become its children. */
  contextOf(term: Term): Context;
  /** Stops the instrumentation. */
  stop(): void;
}

const scope = "@tenure/election";

/**
 * Records a span `tenure.term` for each term of this process, and the metrics `tenure.leading`, `tenure.terms`, `tenure.term.duration` and
 * `tenure.errors`.
 * @example
 * const { contextOf } = instrument(election, { name: "billing" });
 * await election.run((term) => context.with(contextOf(term), () => work(term)));
 */
export function instrument(election: Election, options: InstrumentOptions = {}): Instrumentation {
  const { name, tracer = trace.getTracer(scope), meter = metrics.getMeter(scope) } = options;
  const common: Attributes = {
    "tenure.identity": election.identity,
    ...(name !== undefined && { "tenure.election": name }),
  };
  const leading = meter.createObservableGauge("tenure.leading", {
    description: "1 while this process leads and may start work, else 0",
  });
  const terms = meter.createCounter("tenure.terms", { description: "terms that ended, by reason" });
  const duration = meter.createHistogram("tenure.term.duration", {
    unit: "s",
    description: "length of terms",
  });
  const errors = meter.createCounter("tenure.errors", {
    description: "failed requests and errors of the work",
  });
  const observe = (result: { observe(value: number, attributes: Attributes): void }) =>
    result.observe(election.isLeader() ? 1 : 0, common);
  leading.addCallback(observe);

  const open = new Map<Term, { readonly span: Span; readonly startedMs: number }>();
  const end = (term: Term, reason: string, released: boolean) => {
    const served = open.get(term);
    if (!served) return;
    open.delete(term);
    const { span, startedMs } = served;
    const attributes = { ...common, "tenure.end_reason": reason };
    span.setAttributes({ "tenure.end_reason": reason, "tenure.released": released });
    if (!released) span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    span.end();
    terms.add(1, attributes);
    duration.record((systemClock.now().monoMs - startedMs) / 1_000, attributes);
  };
  const stops = [
    election.on("term-started", ({ term }) => {
      const span = tracer.startSpan("tenure.term", {
        root: true,
        attributes: { ...common, "tenure.token": term.token },
      });
      open.set(term, { span, startedMs: systemClock.now().monoMs });
    }),
    election.on("term-ended", ({ term, reason, released }) => end(term, reason, released)),
    election.on("overrun", ({ term }) => open.get(term)?.span.addEvent("overrun")),
    election.on("error", ({ error, failure }) => {
      const kind = failure?.kind ?? "work";
      errors.add(1, { ...common, "tenure.error_kind": kind });
      for (const { span } of open.values()) span.recordException(error);
    }),
  ];
  return {
    contextOf: (term) => {
      const span = open.get(term)?.span;
      return span ? trace.setSpan(context.active(), span) : context.active();
    },
    stop: () => {
      leading.removeCallback(observe);
      for (const stop of stops) stop();
      for (const { span } of open.values()) span.end();
      open.clear();
    },
  };
}
