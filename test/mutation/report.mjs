/** The result of a mutation run of one package, in words. */

const survived = new Set(["survived", "not reached"]);

/** The survivors, and the other mutants too if `verbose`, and a line that sums up. `rate` is the share of killed mutants in %. */
export function reportOf({ name, chosen, results, seconds, verbose }) {
  const { mutants, all } = chosen;
  const count = (status) => mutants.filter(({ id }) => results.get(id).status === status).length;
  const isKilled = ({ id }) => !survived.has(results.get(id).status);
  const listed = mutants.filter((mutant) => verbose || !isKilled(mutant));
  const rate = mutants.length === 0 ? 100 : (100 * mutants.filter(isKilled).length) / mutants.length;
  const summary =
    `${name}: ${rate.toFixed(1)} % of ${mutants.length} mutants killed (${count("survived")} survived, ` +
    `${count("not reached")} not reached, ${count("timed out")} timed out; the package has ${all.length}) in ${seconds.toFixed(0)} s`;
  return { rate, lines: [...listed.map((mutant) => describe(mutant, results.get(mutant.id))), summary] };
}

function describe({ id, path, line, original, mutated }, { status, killedBy }) {
  const short = (text) => text.replace(/\s+/g, " ").slice(0, 160);
  const by = killedBy ? ` by ${killedBy.file}: ${killedBy.test}` : "";
  return `${path}:${line} #${id} ${status}${by}\n  - ${short(original)}\n  + ${short(mutated)}`;
}
