import { describeProblem, type Problem } from "@tenure/base";
import { expect, it } from "vitest";
import { describeServers, serverUrls, urlProblem } from "./servers.ts";

it("makes one URL for each server", () => {
  expect(serverUrls("postgres://u:p@a:1,b,[::1]:3/db?sslmode=verify-full")).toEqual([
    "postgres://u:p@a:1/db?sslmode=verify-full",
    "postgres://u:p@b/db?sslmode=verify-full",
    "postgres://u:p@[::1]:3/db?sslmode=verify-full",
  ]);
  expect(serverUrls("postgres://")).toEqual(["postgres://"]);
});

it("describes the servers without the password, even if it contains special characters", () => {
  expect(describeServers("postgres://u:p%40x@a:1,b/db?password=hidden")).toBe("postgres a:1,b/db");
  expect(describeServers("postgres://u:p@x@a")).toBe("postgres a");
});

it.each(["http://a", "a:5432", "", undefined, 3, "postgres://[oops/db"])("rejects %j", (url) => {
  const problem = urlProblem("url", url) as Problem;
  expect(describeProblem(problem)).toMatch(
    /^url must be a URL like postgres:\/\/USER@HOST:5432\/DATABASE, but is /,
  );
});

it("does not print the password of an invalid URL", () => {
  expect(JSON.stringify(urlProblem("url", "mysql://u:hidden@a/db"))).not.toContain("hidden");
});
