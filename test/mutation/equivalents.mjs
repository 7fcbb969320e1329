/**
 * Mutants that behave like the original, so that no test can notice them. Each entry has been reviewed and says why. `code` is
 * the line of the source without its indentation, so that an entry stays valid when lines move.
 */
export const equivalents = [];
