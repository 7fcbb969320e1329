import { describe, expect, it } from "vitest";
import { Guard } from "./guard.ts";

let count = 0;
const newGuard = (oneTimeToken: string | undefined = "right") =>
  new Guard({ hostNames: ["ui.prod"], oneTimeToken, secret: () => `s${++count}` });

describe("the Host and the origin of a request", () => {
  it.each([
    ["127.0.0.1:8080", undefined],
    ["[::1]:8080", "http://[::1]:8080"],
    ["localhost:8080", "http://localhost:8080"],
    ["ui.prod", undefined],
  ])("%s from origin %s is accepted", (host, origin) => {
    expect(newGuard().checkOrigin({ host, ...(origin && { origin }) })).toBeUndefined();
  });

  it.each([
    ["a name that resolves to this machine", { host: "evil.example:8080" }],
    ["no name", { host: "" }],
    ["another origin", { host: "127.0.0.1:8080", origin: "http://evil.example" }],
    ["another port of this machine", { host: "127.0.0.1:8080", origin: "http://127.0.0.1:9090" }],
    ["a sandboxed frame", { host: "127.0.0.1:8080", origin: "null" }],
    ["another site without an origin", { host: "127.0.0.1:8080", "sec-fetch-site": "cross-site" }],
    ["another port without an origin", { host: "127.0.0.1:8080", "sec-fetch-site": "same-site" }],
  ])("%s is refused", (_, headers) => {
    expect(newGuard().checkOrigin(headers)).toMatchObject({ status: 403 });
  });
});

describe("the one-time token", () => {
  it("opens one session", () => {
    const guard = newGuard();
    expect(guard.open("wrong")).toMatchObject({ status: 403 });
    const opened = guard.open("right");
    expect(opened).toHaveProperty("session");
    expect(guard.open("right")).toMatchObject({
      status: 403,
      message: expect.stringContaining("works once"),
    });
    const { session } = opened as { session: string };
    expect(guard.checkSession({ authorization: `Bearer ${session}` })).toBeUndefined();
    for (const authorization of ["", "Bearer ", "Bearer right", `Bearer ${session}x`])
      expect(guard.checkSession({ authorization })).toMatchObject({ status: 401 });
  });

  it("is not needed if everybody may read", () => {
    const guard = new Guard({ hostNames: [], oneTimeToken: undefined, secret: () => "s" });
    expect(guard.open(undefined)).toEqual({ session: "s" });
  });
});
