// Puts each library package into one file. Node spends about a millisecond on every module of a program; the packages
// of an election have some forty that are always needed, and a program should not start later because it takes part in an election.
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The entry points of each package, as tsc left them in dist. What is imported dynamically stays a file of its own. */
const packages = {
  base: { index: "index.js", "virtual-clock": "virtual-clock.js" },
  core: { index: "index.js" },
  kube: { index: "index.js", internal: "internal.js" },
  election: { index: "index.js", internal: "internal.js", thread: "worker/thread.js" },
  // The watchdog is a separate program. The supervisor looks for it under this name in its own folder.
  supervisor: { index: "index.js", main: "watchdog/main.js" },
  traffic: { index: "index.js", internal: "internal.js" },
  status: { index: "index.js", internal: "internal.js" },
  testkit: { index: "index.js" },
};

for (const [name, entries] of Object.entries(packages)) {
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.entries(entries).map(([entry, file]) => [entry, `${folder}dist/${file}`]),
    ),
    platform: "node",
    // Packages stay apart, so that there is one class KubeError however many packages use it.
    external: [/^node:/, /^@tenure\//, "js-yaml", "prom-client"],
  });
  await bundle.write({
    dir: `${folder}bundle`,
    format: "esm",
    sourcemap: true,
    chunkFileNames: "[name].js",
    cleanDir: true,
  });
  await bundle.close();
}
