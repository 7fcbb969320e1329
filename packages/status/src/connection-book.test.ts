import { describe, expect, it } from "vitest";
import { ConnectionBook } from "./connection-book.ts";

function newBook(limits: Partial<ConstructorParameters<typeof ConnectionBook>[0]> = {}) {
  return new ConnectionBook<string>({
    maxConnections: 4,
    maxConnectionsPerAddress: 3,
    maxEventClients: 2,
    ...limits,
  });
}

describe("a new connection", () => {
  it("displaces nothing while there are places", () => {
    const book = newBook();
    expect(["1", "2", "3"].map((each) => book.opened(each, "bad"))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(book.opened("probe", "kubelet")).toBeUndefined();
    expect(book.size).toBe(4);
  });

  it("above the limit of its address displaces the oldest connection of that address", () => {
    const book = newBook();
    book.opened("probe", "kubelet");
    for (const each of ["1", "2", "3"]) book.opened(each, "bad");
    expect(book.opened("4", "bad")).toBe("1");
    expect(book.opened("5", "bad")).toBe("2");
    expect(book.size).toBe(4);
  });

  it("above the limit of all displaces a connection of the address with the most", () => {
    const book = newBook({ maxConnectionsPerAddress: 4 });
    book.opened("quiet", "prometheus");
    for (const each of ["1", "2", "3"]) book.opened(each, "bad");
    expect(book.opened("probe", "kubelet")).toBe("1");
  });

  it("displaces the oldest of all if every address has one connection", () => {
    const book = newBook();
    for (const each of ["1", "2", "3", "4"]) book.opened(each, `address-${each}`);
    expect(book.opened("probe", "kubelet")).toBe("1");
    expect(book.opened("5", "address-5")).toBe("2");
  });

  it("displaces one that waits for a request before one that gets a response", () => {
    const book = newBook();
    for (const each of ["1", "2", "3"]) book.opened(each, "bad");
    book.asked("1");
    expect(book.opened("4", "bad")).toBe("2");
    book.answered("1");
    expect(book.opened("5", "bad")).toBe("3");
  });

  it("displaces a client that does not read its response if there is no other", () => {
    const book = newBook({ maxConnections: 2, maxConnectionsPerAddress: 2 });
    for (const each of ["1", "2"]) {
      book.opened(each, "bad");
      book.asked(each);
    }
    expect(book.opened("probe", "kubelet")).toBe("1");
  });
});

describe("event streams", () => {
  it("are limited", () => {
    const book = newBook({ maxConnections: 10, maxConnectionsPerAddress: 10 });
    for (const each of ["1", "2", "3"]) book.opened(each, "a");
    expect(["1", "2", "3"].map((each) => book.streams(each))).toEqual([true, true, false]);
    book.closed("1");
    expect(book.streams("3")).toBe(true);
  });

  it("take at most half of all places, and half of those of their address", () => {
    const book = newBook({ maxEventClients: 10, maxConnections: 6, maxConnectionsPerAddress: 4 });
    for (const each of ["1", "2", "3"]) book.opened(each, "a");
    for (const each of ["4", "5"]) book.opened(each, "b");
    expect(["1", "2", "3"].map((each) => book.streams(each))).toEqual([true, true, false]);
    expect(["4", "5"].map((each) => book.streams(each))).toEqual([true, false]);
  });

  it("are never displaced: a new connection is closed if only they are left", () => {
    const book = newBook({ maxConnections: 1, maxConnectionsPerAddress: 1, maxEventClients: 1 });
    book.opened("1", "a");
    expect(book.streams("1")).toBe(true);
    expect(book.opened("2", "a")).toBe("2");
  });
});

it("forgets closed connections, also those that close after they were displaced", () => {
  const book = newBook();
  for (const each of ["1", "2", "3", "4"]) book.opened(each, "bad");
  for (const each of ["1", "2", "3", "4"]) book.closed(each);
  expect(book.size).toBe(0);
  for (const each of ["5", "6", "7"]) expect(book.opened(each, "bad")).toBeUndefined();
});
