import { describeProblems } from "@tenure/base";
import { describe, expect, it } from "vitest";
import { flagOf } from "../settings/problems.ts";
import { isLockUrl, lockUrlProblems, maskLock, parseLockUrl } from "./lock-url.ts";

const typed = flagOf;
const fromEnvironment = () => "TENURE_LOCK";
const problemsOf = (flags: Parameters<typeof lockUrlProblems>[0], nameOf = typed) =>
  describeProblems(lockUrlProblems(flags, nameOf), nameOf);

describe("the URL of a store", () => {
  it.each([
    ["postgres://u@a/db", true],
    ["postgresql://a,b/db", true],
    ["etcd://a:2379", true],
    ["etcds://a", true],
    ["lease", false],
    ["redis://a", false],
    [undefined, false],
  ])("%s: %s", (lock, expected) => {
    expect(isLockUrl(lock)).toBe(expected);
  });

  it("names servers, database and table of PostgreSQL", () => {
    expect(parseLockUrl("postgres://u:p@a,b:1/db?sslmode=verify-full&table=ops.locks")).toEqual({
      store: "postgres",
      url: "postgres://u:p@a,b:1/db?sslmode=verify-full",
      table: "ops.locks",
    });
    expect(parseLockUrl("postgres://a/db")).toEqual({
      store: "postgres",
      url: "postgres://a/db",
      table: undefined,
    });
  });

  it("names members, prefix and files of etcd", () => {
    expect(parseLockUrl("etcds://u:p%40@a:1,b/my/apps/?cacert=/ca&cert=/c&key=/k")).toEqual({
      store: "etcd",
      endpoints: ["https://a:1", "https://b"],
      prefix: "/my/apps/",
      username: "u",
      password: "p@",
      files: { cacert: "/ca", cert: "/c", key: "/k" },
    });
    expect(parseLockUrl("etcd://a")).toMatchObject({ endpoints: ["http://a"], prefix: undefined, files: {} });
  });
});

describe("a password", () => {
  it.each(["postgres://u:hidden@a/db", "postgres://a/db?password=hidden", "etcd://u:hidden@a"])(
    "on the command line is rejected and not repeated: %s",
    (lock) => {
      const [problem, ...others] = problemsOf({ lock });
      expect(problem).toBe(
        "--lock must not contain a password, because every user of the machine can read the command line; " +
          "set TENURE_LOCK to the URL, or use PGPASSWORD, PGPASSFILE or ETCD_PASSWORD",
      );
      expect(others).toEqual([]);
      expect(problem).not.toContain("hidden");
    },
  );

  it("in the environment is accepted", () => {
    expect(problemsOf({ lock: "postgres://u:hidden@a/db" }, fromEnvironment)).toEqual([]);
  });

  it("is not shown with a URL of an unknown store", () => {
    expect(maskLock("redis://u:hidden@a")).toBe("redis://…");
    expect(maskLock("leese")).toBe("leese");
  });
});

it("rejects what would be ignored in silence", () => {
  expect(problemsOf({ lock: "etcd://a?ca=/ca" })).toEqual([
    '--lock must be an etcd URL with the parameters cacert, cert, key only, but is "ca"',
  ]);
  expect(problemsOf({ lock: "etcd:///prefix" })).toEqual(["--lock must name a host: etcd://HOST:2379"]);
  expect(problemsOf({ lock: "lease", lockListen: "postgres://a/db" })).toEqual([
    "--lock-listen needs a postgres:// URL in --lock",
  ]);
});
