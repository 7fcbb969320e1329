import { Emitter } from "@tenure/base";
import type { Failure } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { ErrorReports } from "./error-reports.ts";
import type { ElectionEvents } from "./events.ts";

function newReports() {
  const warnings: Error[] = [];
  const events = new Emitter<ElectionEvents>(() => {});
  return { events, warnings, reports: new ErrorReports(events, (error) => warnings.push(error)) };
}

const denied: Failure = { kind: "denied", message: "forbidden" };
const timeout: Failure = { kind: "timeout", message: "no answer" };

describe("errors that nobody listens to", () => {
  it("cause one warning for each kind of failure, with the way to get all of them", () => {
    const { reports, warnings } = newReports();
    reports.request(new Error("Cannot read lease a/b: forbidden"), denied);
    reports.request(new Error("Cannot read lease a/b: forbidden again"), denied);
    reports.request(new Error("Cannot renew lease a/b: no answer."), timeout);
    expect(warnings.map(({ name, stack }) => [name, stack])).toEqual([
      [
        "TenureWarning",
        'Cannot read lease a/b: forbidden. This warning is not repeated. To get every error: election.on("error", ({ error }) => …)',
      ],
      ["TenureWarning", expect.stringMatching(/^Cannot renew lease a\/b: no answer\. This warning/)],
    ]);
  });

  it("of requests beside the lock cause one warning", () => {
    const { reports, warnings } = newReports();
    reports.request(new Error("Cannot create the Event"));
    reports.request(new Error("Cannot create the next Event"));
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Cannot create the Event\. This warning is not repeated/),
    ]);
  });

  it("of the work cause a warning each", () => {
    const { reports, warnings } = newReports();
    const error = new TypeError("x");
    reports.work(error);
    reports.work(error);
    reports.work("a text");
    expect(warnings).toEqual([error, error, new Error("a text")]);
  });
});

it("errors go only to listeners, if there are any", () => {
  const { reports, warnings, events } = newReports();
  const heard: unknown[] = [];
  events.on("error", (event) => void heard.push(event));
  const error = new Error("x");
  reports.request(error, denied);
  reports.request(error, denied);
  reports.request(error);
  reports.work(error);
  expect(heard).toEqual([{ error, failure: denied }, { error, failure: denied }, { error }, { error }]);
  expect(warnings).toEqual([]);
});
