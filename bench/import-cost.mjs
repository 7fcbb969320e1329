// Measures what `import { Election, LeaseLock } from "@tenure/election"` adds to bare node, in time and memory.
//   node bench/import-cost.mjs [RUNS]
// Each figure is the median over new processes; the programs take turns. Time is the whole process, from start to exit.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const runs = Number(process.argv[2] ?? 31);
if (!Number.isSafeInteger(runs) || runs < 1) {
  console.error(`RUNS must be a whole number, at least 1: ${process.argv[2]}`);
  process.exit(2);
}
const root = fileURLToPath(new URL("..", import.meta.url));
const programs = {
  "bare node": "",
  "@tenure/core": 'await import("@tenure/core");',
  "@tenure/election with LeaseLock":
    'const { Election, LeaseLock } = await import("@tenure/election");' +
    'new Election({ lock: new LeaseLock({ namespace: "default", name: "example" }), identity: "a" });',
};
const report = "process.stdout.write(String(process.memoryUsage.rss()))";

const samples = Object.fromEntries(Object.keys(programs).map((name) => [name, { ms: [], mb: [] }]));
for (let run = 0; run < runs; run++) {
  for (const [name, program] of Object.entries(programs)) {
    const startedMs = performance.now();
    const { stdout, status, stderr } = spawnSync(
      process.execPath,
      ["--input-type=module", "-e", `${program}${report}`],
      { cwd: root, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(stderr);
    samples[name].ms.push(performance.now() - startedMs);
    samples[name].mb.push(Number(stdout) / 1e6);
  }
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const bare = { ms: median(samples["bare node"].ms), mb: median(samples["bare node"].mb) };
console.log(`node ${process.version}, median of ${runs} processes each\n`);
console.log("| program | start to exit | more than bare | memory | more than bare |");
console.log("|---|---|---|---|---|");
for (const [name, { ms, mb }] of Object.entries(samples)) {
  const [time, memory] = [median(ms), median(mb)];
  console.log(
    `| ${name} | ${time.toFixed(1)} ms | ${(time - bare.ms).toFixed(1)} ms | ${memory.toFixed(1)} MB | ${(memory - bare.mb).toFixed(1)} MB |`,
  );
}
