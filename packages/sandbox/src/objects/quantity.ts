/**
 * Quantities of resources, such as 500m, 1.5Gi or 2e3. Kubernetes prints them in a canonical form, and no Go client can
 * read an object with one that is not valid.
 */

export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

type Format = "binary" | "decimal" | "exponent";

/** The number is `digits` × 10^`scale`. */
interface Quantity {
  digits: bigint;
  scale: number;
  format: Format;
}

const decimalSuffixes: Record<string, number> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const nano = -9;

/** The canonical form of a quantity. Throws a QuantityError if the text is not one. */
export function canonicalQuantity(given: string): string {
  const text = given.trim();
  const { quantity, literal } = parse(text);
  if (quantity.digits === 0n) return "0";
  return isCanonical(quantity.format, literal) ? text : print(quantity);
}

/** Negative if `a` is less than `b`. Both must be valid. */
export function compareQuantities(a: string, b: string): number {
  const [left, right] = [parse(a.trim()).quantity, parse(b.trim()).quantity];
  const scale = Math.min(left.scale, right.scale);
  const difference = scaled(left, scale) - scaled(right, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Rounds up to thousandths, as the resources of a pod are. */
export function roundToMilli(text: string): string {
  const { quantity } = parse(text);
  return quantity.scale >= -3 ? text : print(roundUp(quantity, -3));
}

const scaled = ({ digits, scale }: Quantity, to: number) => digits * 10n ** BigInt(scale - to);

/** The parts of the text, without leading zeros. */
interface Literal {
  digits: string;
  fraction: string;
  exponent: number;
}

function parse(text: string): { quantity: Quantity; literal: Literal } {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  if (match === null || !/\d/.test(match[2] + (match[3] ?? ""))) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  const { format, exponent } = parseSuffix(suffix);
  const digits = `${whole.replace(/^0+/, "")}${fraction}`;
  const unsigned = BigInt(digits || "0") * (format === "binary" ? 2n ** BigInt(exponent) : 1n);
  const scale = (format === "binary" ? 0 : exponent) - fraction.length;
  const exact: Quantity = { digits: sign === "-" ? -unsigned : unsigned, scale, format };
  return { quantity: roundUp(exact, nano), literal: { digits, fraction, exponent } };
}

function parseSuffix(suffix: string): { format: Format; exponent: number } {
  const decimal = Object.hasOwn(decimalSuffixes, suffix) ? decimalSuffixes[suffix] : undefined;
  if (decimal !== undefined) return { format: "decimal", exponent: decimal };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { format: "binary", exponent: binary * 10 };
  const power = /^[eE]([+-]?\d{1,3})$/.exec(suffix)?.[1];
  if (power === undefined) throw new QuantityError("unable to parse quantity's suffix");
  return { format: "exponent", exponent: Number(power) };
}

/** Kubernetes keeps the text of a quantity that looks canonical, even with a sign or a point at the end. */
function isCanonical(format: Format, { digits, fraction, exponent }: Literal): boolean {
  if (digits.length > 18) return false;
  if (format === "binary") return fraction === "" && (BigInt(digits) & 7n) !== 0n && digits.length < 9;
  const scale = exponent - fraction.length;
  return scale >= nano && scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

/** Away from zero: whoever asks for a little must not get nothing. */
function roundUp(quantity: Quantity, scale: number): Quantity {
  if (quantity.scale >= scale) return quantity;
  const divisor = 10n ** BigInt(scale - quantity.scale);
  const rest = quantity.digits % divisor;
  const away = rest > 0n ? 1n : rest < 0n ? -1n : 0n;
  return { ...quantity, digits: quantity.digits / divisor + away, scale };
}

function print(quantity: Quantity): string {
  let { digits, scale } = quantity;
  while (digits % 10n === 0n) {
    digits /= 10n;
    scale++;
  }
  const size = scale >= 0 ? digits * 10n ** BigInt(scale) : 0n;
  const isLarge = size >= 1024n || size <= -1024n;
  if (quantity.format === "binary" && isLarge) return printBinary(size);
  while (scale % 3 !== 0) {
    digits *= 10n;
    scale--;
  }
  const suffix = Object.keys(decimalSuffixes).find((name) => decimalSuffixes[name] === scale);
  if (quantity.format === "exponent" || suffix === undefined)
    return scale === 0 ? `${digits}` : `${digits}e${scale}`;
  return `${digits}${suffix}`;
}

function printBinary(size: bigint): string {
  let digits = size;
  let power = 0;
  while (digits % 1024n === 0n && power < binarySuffixes.length - 1) {
    digits /= 1024n;
    power++;
  }
  return `${digits}${binarySuffixes[power]}`;
}
