/** Turns network errors of Node into a `KubeError` that says what to check. */
import { KubeError, systemCode } from "../errors.ts";

/** @param action completes "Cannot …" */
export function networkError(error: unknown, action: string, server: string): KubeError {
  if (error instanceof KubeError) return error;
  const code = systemCode(error) ?? "";
  const detail = error instanceof Error && error.message !== "" ? error.message : code;
  if (code === "ERR_INVALID_CHAR") {
    return new KubeError(
      "BadConfig",
      `Cannot ${action}: a header contains a character that HTTP does not allow. Check the token in the credentials.`,
      { cause: error },
    );
  }
  if (code.startsWith("HPE_")) {
    return new KubeError("BadResponse", `Cannot ${action}: ${server} does not speak HTTP (${detail}).`, {
      cause: error,
    });
  }
  const tls = tlsHint(code, detail);
  if (tls !== undefined) {
    return new KubeError(
      "Tls",
      `Cannot ${action}: the TLS connection to ${server} failed (${detail}). ${tls}`,
      {
        cause: error,
      },
    );
  }
  return new KubeError(
    "Unreachable",
    `Cannot ${action}: ${server} ${failures[code] ?? `failed (${detail}).`}`,
    {
      cause: error,
    },
  );
}

const failures: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection (ECONNREFUSED). Is the API server running there?",
  ECONNRESET: "closed the connection before the response was complete (ECONNRESET).",
  EPIPE: "closed the connection before the response was complete (EPIPE).",
  ENOTFOUND: "does not exist in DNS (ENOTFOUND).",
  EAI_AGAIN: "cannot be resolved, because DNS does not respond (EAI_AGAIN).",
  EHOSTUNREACH: "cannot be reached from this machine (EHOSTUNREACH).",
  ENETUNREACH: "cannot be reached from this machine (ENETUNREACH).",
  ETIMEDOUT: "does not respond (ETIMEDOUT).",
};

const untrusted = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_UNTRUSTED",
  "CERT_SIGNATURE_FAILURE",
]);

function tlsHint(code: string, detail: string): string | undefined {
  if (untrusted.has(code))
    return "Set certificate-authority to the authority that signed the server's certificate.";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "Set tls-server-name to a name in the certificate, or use such a name in server.";
  }
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return "Renew the server's certificate, or correct the clock of this machine.";
  }
  if (detail.includes("wrong version number") || detail.includes("packet length too long")) {
    return "The server does not speak TLS on this port.";
  }
  if (code.startsWith("ERR_SSL_TLSV1") || code.startsWith("ERR_SSL_SSLV3_ALERT")) {
    return "The server rejected the handshake. Check the client certificate.";
  }
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") || code.startsWith("ERR_OSSL_")) {
    return "Check the certificates and the key in the credentials.";
  }
  return code === "EPROTO" || code.startsWith("CERT_")
    ? "Check the certificates of client and server."
    : undefined;
}
