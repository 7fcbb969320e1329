// Generates gen/bootstrap.json, the roles and bindings that every cluster has, from the sources of a Kubernetes release:
//   node scripts/generate-bootstrap.mjs <k8s.io/kubernetes>
// `go mod download -json k8s.io/kubernetes@v1.36.3` prints the directory.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";

const [kubernetes] = process.argv.slice(2);
if (!kubernetes) {
  console.error("usage: node scripts/generate-bootstrap.mjs <k8s.io/kubernetes>");
  process.exit(2);
}
const directory = join(kubernetes, "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata");
const read = (name) => load(readFileSync(join(directory, `${name}.yaml`), "utf8")).items;

const roles = [...read("cluster-roles"), ...read("controller-roles")];
const bindings = [...read("cluster-role-bindings"), ...read("controller-role-bindings")];
const objects = [...roles, ...bindings, ...read("namespace-roles"), ...read("namespace-role-bindings")];

/**
 * A controller fills in the rules of a role that aggregates others. The sandbox has no such controller, so they are
 * filled in here. A role can aggregate one that aggregates others.
 */
function rulesOf({ aggregationRule, rules }) {
  if (!aggregationRule) return rules ?? [];
  return aggregationRule.clusterRoleSelectors.flatMap(({ matchLabels }) =>
    roles
      .filter(({ metadata: { labels = {} } }) =>
        Object.entries(matchLabels).every(([key, value]) => labels[key] === value),
      )
      .flatMap(rulesOf),
  );
}

const printed = objects.map((object) => {
  const { kind, apiVersion, metadata, ...content } = object;
  const { creationTimestamp: _none, ...rest } = metadata;
  return {
    kind,
    apiVersion,
    metadata: rest,
    ...content,
    ...(content.rules || content.aggregationRule ? { rules: rulesOf(object) } : {}),
  };
});
writeFileSync(new URL("../gen/bootstrap.json", import.meta.url), `${JSON.stringify(printed)}\n`);
console.log(`${printed.length} objects`);
