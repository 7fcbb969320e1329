import { expect, test } from "vitest";
import { Limiter } from "./limiter.ts";

test("at most so many tasks run at once, and the others follow in order, also after a failure", async () => {
  const limiter = new Limiter(2);
  const started: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const results = [0, 1, 2, 3].map((index) =>
    limiter
      .run(
        () =>
          new Promise<number>((resolve, reject) => {
            started.push(index);
            ends.push((error) => (error ? reject(error) : resolve(index)));
          }),
      )
      .catch((error: Error) => error.message),
  );
  await expect.poll(() => started).toEqual([0, 1]);
  ends[1]?.(new Error("no"));
  await expect.poll(() => started).toEqual([0, 1, 2]);
  ends[0]?.();
  ends[2]?.();
  await expect.poll(() => started).toEqual([0, 1, 2, 3]);
  ends[3]?.();
  expect(await Promise.all(results)).toEqual([0, "no", 2, 3]);
});
