import { describeProblems } from "@tenure/base";
import { describe, expect, it } from "vitest";
import { checkUser, type UserFacts } from "./user.ts";

const root: UserFacts = {
  passwd: "root:x:0:0:root:/root:/bin/sh\napp:x:1000:100:App:/srv/app:/bin/false\n",
  group: "root:x:0:\nusers:x:100:app\nlog:x:7:\n",
  ownUid: 0,
  capabilities: 0x1ff_ffff_ffffn,
};

describe("--user", () => {
  it.each([
    ["app", { uid: 1000, gid: 100, name: "app", home: "/srv/app" }],
    ["1000", { uid: 1000, gid: 100, name: "app", home: "/srv/app" }],
    ["app:log", { uid: 1000, gid: 7, name: "app", home: "/srv/app" }],
    ["app:55", { uid: 1000, gid: 55, name: "app", home: "/srv/app" }],
    ["4711:4712", { uid: 4711, gid: 4712, name: undefined, home: undefined }],
  ])("reads %s", (text, user) => {
    expect(checkUser(text, root)).toEqual({ value: user, problems: [] });
  });

  it.each([
    ["nosuch", 'user must be in /etc/passwd, but is "nosuch"; pass numbers, as in 1000:1000'],
    ["4711", 'user must name a group too, but is "4711"; pass numbers, as in 4711:4711'],
    ["app:nosuch", expect.stringContaining("must name a group that is in /etc/group")],
    ["app:", expect.stringContaining("must be a name or a number")],
    [":7", expect.stringContaining("must be a name or a number")],
    ["a:b:c", expect.stringContaining("must be a name or a number")],
    ["4294967295:0", expect.stringContaining("must be in /etc/passwd")],
  ])("rejects %s", (text, message) => {
    expect(describeProblems(checkUser(text, root).problems)).toEqual([message]);
  });

  it("is rejected if tenure could not switch the user, or could not kill the child afterwards", () => {
    const withoutKill = { ...root, capabilities: (1n << 6n) | (1n << 7n) };
    const another = { ...root, ownUid: 1000, capabilities: 0n };
    const unknown = { ...root, ownUid: 500, capabilities: undefined };
    for (const facts of [withoutKill, unknown]) expect(checkUser("app", facts).problems.length).toBe(1);
    expect(describeProblems(checkUser("root", another).problems)).toEqual([
      "user requires that tenure runs as root with the capabilities KILL, SETGID and SETUID; it runs as user 1000, " +
        'but is "root"; leave it out, and set runAsUser in the pod instead',
    ]);
    expect(checkUser("app", another).problems).toEqual([]);
  });
});
