/** With the real SDKs of OpenTelemetry: the spans and measurements that an exporter gets. */
import { context, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { Election } from "./election.ts";
import { instrument } from "./opentelemetry.ts";
import type { Term } from "./term.ts";

function world() {
  const spans = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer(
    "test",
  );
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meter = new MeterProvider({ readers: [reader] }).getMeter("test");
  const clock = new VirtualClock();
  const lock = new MemoryServer(clock).link();
  const election = new Election({ lock, clock, identity: "pod-a", random: () => 0.5, onOverrun: "report" });
  const instrumentation = instrument(election, { name: "billing", tracer, meter });
  const measure = async () => {
    exporter.reset();
    await reader.forceFlush();
    const found = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics));
    return Object.fromEntries(
      found.map(({ descriptor, dataPoints }) => {
        const { value, attributes } = dataPoints.at(-1) ?? {};
        return [descriptor.name, { unit: descriptor.unit, value, attributes }];
      }),
    );
  };
  return { spans, tracer, clock, lock, election, instrumentation, measure };
}

const untilAborted = ({ signal }: Term) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

describe("instrument", () => {
  it("records a span for a term, with its token and why it ended", async () => {
    const { spans, clock, election, measure } = world();
    const run = election.run(untilAborted);
    await clock.until(() => election.isLeader(), 1_000);
    const token = election.term?.token;
    expect((await measure())["tenure.leading"]?.value).toBe(1);
    expect(spans.getFinishedSpans()).toEqual([]);
    void election.stop();
    await clock.pass(1_000);
    await run;
    const [span] = spans.getFinishedSpans();
    expect(span?.name).toBe("tenure.term");
    expect(span?.attributes).toEqual({
      "tenure.election": "billing",
      "tenure.identity": "pod-a",
      "tenure.token": token,
      "tenure.end_reason": "shutdown",
      "tenure.released": true,
    });
    expect(span?.status.code).toBe(0);
    const measured = await measure();
    expect(measured["tenure.leading"]?.value).toBe(0);
    expect(measured["tenure.terms"]).toMatchObject({
      value: 1,
      attributes: { "tenure.end_reason": "shutdown" },
    });
    expect(measured["tenure.term.duration"]).toMatchObject({ unit: "s", value: { count: 1 } });
  });

  it("marks a lost term as an error, with what failed", async () => {
    const { spans, clock, lock, election, measure } = world();
    void election.run(untilAborted);
    await clock.until(() => election.isLeader(), 1_000);
    lock.cut();
    await clock.pass(20_000);
    const [span] = spans.getFinishedSpans();
    expect(span?.status).toEqual({ code: 2, message: "renew-deadline" });
    expect(span?.events.map(({ name }) => name)).toContain("exception");
    expect(Number((await measure())["tenure.errors"]?.value)).toBeGreaterThan(0);
  });

  it("records in the span that the work overran its term", async () => {
    const { spans, clock, lock, election } = world();
    let finish = () => {};
    void election.run(() => new Promise<void>((resolve) => (finish = resolve)));
    await clock.until(() => election.isLeader(), 1_000);
    lock.cut();
    await clock.pass(20_000);
    finish();
    await clock.pass(10);
    const [span] = spans.getFinishedSpans();
    expect(span?.events.map(({ name }) => name)).toContain("overrun");
  });

  it("makes spans of the work children of the term's span", async () => {
    const { spans, tracer, clock, election, instrumentation } = world();
    const run = election.run(async (term) => {
      tracer.startSpan("work", {}, instrumentation.contextOf(term)).end();
      await untilAborted(term);
    });
    await clock.until(() => election.isLeader(), 1_000);
    await clock.pass(10);
    void election.stop();
    await clock.pass(1_000);
    await run;
    const [work, term] = spans.getFinishedSpans();
    expect(work?.parentSpanContext?.spanId).toBe(term?.spanContext().spanId);
    expect(trace.getSpan(instrumentation.contextOf({} as Term))).toBe(trace.getSpan(context.active()));
  });

  it("ends the span of the current term when it is stopped", async () => {
    const { spans, clock, election, instrumentation } = world();
    void election.run(untilAborted);
    await clock.until(() => election.isLeader(), 1_000);
    instrumentation.stop();
    expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(["tenure.term"]);
  });

  it("records nothing after it was stopped", async () => {
    const { spans, clock, election, instrumentation } = world();
    instrumentation.stop();
    void election.run(untilAborted);
    await clock.until(() => election.isLeader(), 1_000);
    expect(spans.getFinishedSpans()).toEqual([]);
    expect(instrumentation.contextOf(election.term as Term)).toBe(context.active());
  });
});
