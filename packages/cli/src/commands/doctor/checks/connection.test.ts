import { expect, it } from "vitest";
import { credentialsFix } from "./connection.ts";

it.each(["Unauthorized", "Tls", "Forbidden"] as const)(
  "advises nothing with a kubeconfig in a pod, where there is none: %s",
  (code) => {
    expect(credentialsFix(code, "https://api", "pod")).toMatch(/delete the pod/);
    expect(credentialsFix(code, "https://api", "pod")).not.toMatch(/kubeconfig|--context/);
    expect(credentialsFix(code, "https://api", "machine")).toMatch(/kubeconfig|--context/);
  },
);

it("advises to look at the network if the server does not answer, everywhere", () => {
  for (const where of ["pod", "machine"] as const)
    expect(credentialsFix("Unreachable", "https://api", where)).toContain("no firewall or proxy");
});
