/** Turns what Node throws at network level into a `KubeError` that says what to look at. */
import { KubeError, systemCode } from "../errors.ts";

/** @param doing the request in words, as in "Cannot <doing>" */
export function networkError(error: unknown, doing: string, server: string): KubeError {
  if (error instanceof KubeError) return error;
  const code = systemCode(error) ?? "";
  const said = error instanceof Error && error.message !== "" ? error.message : code;
  if (code === "ERR_INVALID_CHAR") {
    return new KubeError(
      "BadConfig",
      `Cannot ${doing}: a token or header holds a character that HTTP does not allow. Look at the token in the credentials.`,
      { cause: error },
    );
  }
  if (code.startsWith("HPE_")) {
    return new KubeError("BadResponse", `Cannot ${doing}: ${server} does not answer in HTTP (${said}).`, {
      cause: error,
    });
  }
  const tls = tlsHint(code, said);
  if (tls !== undefined) {
    return new KubeError("Tls", `Cannot ${doing}: no trusted TLS connection to ${server} (${said}). ${tls}`, {
      cause: error,
    });
  }
  return new KubeError("Unreachable", `Cannot ${doing}: ${server} ${reach[code] ?? `failed (${said})`}.`, {
    cause: error,
  });
}

const reach: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses the connection (ECONNREFUSED); is the API server running there",
  ECONNRESET: "closed the connection before the answer was complete (ECONNRESET)",
  EPIPE: "closed the connection before the answer was complete (EPIPE)",
  ENOTFOUND: "is not a host that DNS knows (ENOTFOUND)",
  EAI_AGAIN: "could not be looked up in DNS (EAI_AGAIN)",
  EHOSTUNREACH: "cannot be reached from here (EHOSTUNREACH)",
  ENETUNREACH: "cannot be reached from here (ENETUNREACH)",
  ETIMEDOUT: "does not react (ETIMEDOUT)",
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

function tlsHint(code: string, said: string): string | undefined {
  if (untrusted.has(code))
    return "Set certificate-authority to the authority that signed the server's certificate.";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "Set tls-server-name to a name in the certificate, or use that name in server.";
  }
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return "Renew the server's certificate, or set the clock of this machine.";
  }
  if (said.includes("wrong version number") || said.includes("packet length too long")) {
    return "The server does not speak TLS on this port.";
  }
  if (code.startsWith("ERR_SSL_TLSV1") || code.startsWith("ERR_SSL_SSLV3_ALERT")) {
    return "The server refused the handshake; look at the client certificate.";
  }
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") || code.startsWith("ERR_OSSL_")) {
    return "Look at the certificates and the key in the credentials.";
  }
  return code === "EPROTO" || code.startsWith("CERT_")
    ? "Look at the certificates on both sides."
    : undefined;
}
