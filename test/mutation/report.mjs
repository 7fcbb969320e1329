/** Prints the result of a mutation run of one package. */

const survived = new Set(["survived", "not reached"]);

export function printReport({ name, chosen, results, seconds, verbose }) {
  const { mutants, all, excluded, stale } = chosen;
  const survivors = mutants.filter(({ id }) => survived.has(results.get(id).status));
  for (const mutant of mutants) {
    const result = results.get(mutant.id);
    if (survived.has(result.status)) console.log(describe(mutant, result.status));
    else if (verbose)
      console.log(
        describe(
          mutant,
          `${result.status} in ${result.ms ?? "?"} ms by ${result.killedBy?.file}: ${result.killedBy?.test}: ${result.killedBy?.error}`,
        ),
      );
  }
  for (const entry of stale)
    console.log(`equivalents.mjs: no mutant matches ${entry.path}: ${entry.original}`);
  const rate = mutants.length === 0 ? 100 : 100 * (1 - survivors.length / mutants.length);
  const timedOut = mutants.filter(({ id }) => results.get(id).status === "timed out").length;
  console.log(
    `${name}: ${rate.toFixed(1)} % of ${mutants.length} mutants killed (${survivors.length} survived, ${timedOut} timed out; ` +
      `${all.length} in all, ${excluded.length} excluded as equivalent) in ${seconds.toFixed(0)} s`,
  );
  return { rate: stale.length > 0 ? 0 : rate };
}

function describe({ id, path, line, original, mutated }, status) {
  const short = (text) => text.replace(/\s+/g, " ").slice(0, 160);
  return `${path}:${line} #${id} ${status}\n  - ${short(original)}\n  + ${short(mutated)}`;
}
