/** Quantities of resources, such as "250m" or "1Gi". */

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value of a quantity. The API server has checked the text; anything else counts as 0. */
export function parseQuantity(quantity: string | number | undefined): number {
  const parts = /^([+-]?[\d.]+)(?:[eE]([+-]?\d+)|([a-zA-Z]*))$/.exec(String(quantity ?? "0"));
  if (!parts) return 0;
  const [, digits, exponent, suffix = ""] = parts;
  const factor = exponent === undefined ? (factors[suffix] ?? 0) : 10 ** Number(exponent);
  const value = Number(digits) * factor;
  return Number.isNaN(value) ? 0 : value;
}

/** In thousandths, rounded up as Kubernetes does. */
export function thousandths(quantity: string | number | undefined): number {
  // The sum of decimal fractions is not exact: 0.1 + 0.2 must not need more than 0.3.
  return Math.ceil(Math.round(parseQuantity(quantity) * 1000 * 1e6) / 1e6);
}
