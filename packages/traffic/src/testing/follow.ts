/** For tests of the followers: a temporary directory with a ready file, and a log of changes and errors. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FollowOptions } from "../follow/follower.ts";
import { readyFile } from "../gates/ready-file.ts";

export class FollowLog {
  readonly folder: string;
  readonly ready: string;
  readonly controller = new AbortController();
  readonly changes: string[] = [];
  readonly errors: string[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.ready = join(folder, "ready");
  }

  static async create(): Promise<FollowLog> {
    return new FollowLog(await mkdtemp(join(tmpdir(), "tenure-follow-")));
  }

  options(): FollowOptions {
    return {
      pod: "a",
      readyFile: readyFile({ path: this.ready }),
      signal: this.controller.signal,
      onChange: ({ leader, isNamed }) => void this.changes.push(`${leader}${isNamed ? " me" : ""}`),
      onError: (error) => void this.errors.push(error.message),
    };
  }

  async close(): Promise<void> {
    this.controller.abort();
    await rm(this.folder, { recursive: true, force: true });
  }
}
