// @ts-check
/** What npm needs to attest where a package was built: https://docs.npmjs.com/generating-provenance-statements */

/**
 * The address of the repository: as given, or where GitHub Actions runs.
 * @param {string | undefined} given @param {Readonly<Record<string, string | undefined>>} env
 */
export function repositoryOf(given, env) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env;
  const found = given ?? (server && repository ? `${server}/${repository}` : undefined);
  return found?.replace(/\/$|\.git$/g, "");
}

/**
 * @param {string | undefined} repository @param {Readonly<Record<string, string | undefined>>} env
 * @returns {{ is: boolean, text: string }[]}
 */
export function provenanceNeeds(repository, env) {
  return [
    {
      is: repository !== undefined,
      text: "the address of the public repository, which becomes `repository` of every package: --repository URL, or GitHub Actions",
    },
    {
      is: env.GITHUB_ACTIONS === "true" || env.GITLAB_CI === "true",
      text: "a run in GitHub Actions or GitLab CI, on machines of theirs",
    },
    {
      is: env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined || env.SIGSTORE_ID_TOKEN !== undefined,
      text: "permission to ask for an identity: `id-token: write` in the workflow, as in .github/workflows/release.yaml",
    },
    {
      is: env.NODE_AUTH_TOKEN !== undefined || env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined,
      text: "the right to publish: this workflow as a trusted publisher of each package on npm, or a token in NODE_AUTH_TOKEN",
    },
  ];
}
