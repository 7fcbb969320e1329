import { describe, expect, it } from "vitest";
import { checkFileLimit, chooseFileLimit } from "./file-limit.ts";

const limits = (soft: number | string) =>
  `Limit                     Soft Limit           Hard Limit           Units     
Max processes             127                  127                  processes 
Max open files            ${soft}                 1048576              files     
`;

describe("the limit of open files", () => {
  it.each<[string, number | undefined, string | undefined, string | undefined, number | undefined]>([
    ["that of the parent, if Node raised ours", undefined, limits(1_048_576), limits(1_024), 1_024],
    ["unchanged if the parent has the same", undefined, limits(1_024), limits(1_024), undefined],
    ["unchanged if the parent has a higher one", undefined, limits(1_024), limits(4_096), undefined],
    ["unchanged if the parent's is too low for tenure", undefined, limits(4_096), limits(20), undefined],
    ["unchanged in a container, which has no parent", undefined, limits(4_096), undefined, undefined],
    ["unchanged without /proc", undefined, undefined, undefined, undefined],
    ["unchanged if there is none", undefined, limits("unlimited"), limits(1_024), undefined],
    ["what --rlimit says", 2_000, limits(4_096), limits(1_024), 2_000],
    ["what --rlimit says, in a container too", 2_000, limits(4_096), undefined, 2_000],
    ["unchanged if it is what --rlimit says", 2_000, limits(2_000), limits(1_024), undefined],
  ])("is %s", (_, wanted, own, parent, expected) => {
    expect(chooseFileLimit(wanted, own, parent)).toBe(expected);
  });
});

describe("--rlimit", () => {
  it("reads nofile", () => {
    expect(checkFileLimit("nofile=1024")).toEqual({ value: 1_024, problems: [] });
  });

  it.each(["1024", "nofile=", "nofile=511", "core=0", "nofile=1k"])("rejects %s", (text) => {
    expect(checkFileLimit(text).problems).toMatchObject([{ field: "rlimit" }]);
  });
});
