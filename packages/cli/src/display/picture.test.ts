import { expect, it } from "vitest";
import { Picture } from "./picture.ts";

function open(columns = 10, rows = 5) {
  let out = "";
  const size = { columns: () => columns, rows: () => rows, onResize: () => () => {} };
  const picture = new Picture((text) => {
    out += text;
  }, size);
  const taken = () => {
    const text = out;
    out = "";
    return text;
  };
  return { picture, taken };
}

it("redraws in place, and shows the cursor again at the end", () => {
  const { picture, taken } = open();
  picture.draw(["one", "two"]);
  expect(taken()).toBe("\u001b[?25l\r\u001b[Jone\ntwo\n");
  picture.draw(["three"]);
  expect(taken()).toBe("\u001b[2A\r\u001b[Jthree\n");
  picture.end();
  expect(taken()).toBe("\u001b[?25h\n");
  picture.end();
  expect(taken()).toBe("");
});

it("cuts lines that would wrap, keeping escape sequences whole, and pictures that would scroll", () => {
  const { picture, taken } = open(6, 3);
  picture.draw(["\u001b[31mabcdefgh\u001b[0m", "b", "c"]);
  expect(taken()).toBe("\u001b[?25l\r\u001b[J\u001b[31mabcde\u001b[0m…\n…\n");
});

it("starts again after a resize", () => {
  const { picture, taken } = open();
  picture.draw(["one"]);
  picture.forget();
  taken();
  picture.draw(["one"]);
  expect(taken()).toBe("\r\u001b[Jone\n");
});
