import { expect, it } from "vitest";
import { fakeApi } from "../testing/fake-api.ts";
import { type Fence, fencedClient } from "./fenced-client.ts";

function start() {
  const [ending, lost] = [new AbortController(), new AbortController()];
  let isValid = true;
  const term: Fence = { signal: ending.signal, lost: lost.signal, isValid: () => isValid };
  const api = fakeApi(() => ({}));
  const expire = () => {
    isValid = false;
  };
  return { client: fencedClient(api, term), api, ending, lost, expire };
}

const write = { method: "POST", path: "/api/v1/namespaces/default/pods" } as const;
const read = { method: "GET", path: "/api/v1/pods" } as const;

it("writes within its term", async () => {
  const { client, api, lost } = start();
  await client.request(write);
  expect(api.requests[0]?.signal).toBe(lost.signal);
});

it.each(["asked to end", "expired while the process was frozen"])(
  "starts no write when the term was %s",
  async (how) => {
    const { client, api, ending, expire } = start();
    if (how === "asked to end") ending.abort();
    else expire();
    await expect(client.request(write)).rejects.toMatchObject({ code: "Aborted" });
    expect(api.requests).toEqual([]);
    await client.request(read);
    expect(api.requests).toEqual([read]);
  },
);
