import { KubeError } from "@tenure/kube";
import type { LockClient } from "../elections/find.ts";

/** The name of the user as the API server knows it; undefined if the server does not say. Rejects if it accepts no request. */
export async function whoAmI(client: LockClient): Promise<string | undefined> {
  const apiVersion = "authentication.k8s.io/v1";
  try {
    const { status } = await client.request<{ status?: { userInfo?: { username?: string } } }>({
      method: "POST",
      path: `/apis/${apiVersion}/selfsubjectreviews`,
      body: { apiVersion, kind: "SelfSubjectReview" },
    });
    return status?.userInfo?.username;
  } catch (error) {
    // Servers before 1.28 do not have it, and others may deny it. Any other answer proves as much.
    if (!(error instanceof KubeError) || (error.status !== 404 && error.code !== "Forbidden")) throw error;
    await client.request({ method: "GET", path: "/version" });
    return undefined;
  }
}
