import { describe, expect, it } from "vitest";
import { KubeError } from "../errors.ts";
import { networkError } from "./network-error.ts";

const failed = (code: string | undefined, message = `it was ${code}`) =>
  Object.assign(new Error(message), { code });
const explain = (error: unknown) => networkError(error, "get it", "https://api:6443");

describe("networkError", () => {
  it.each([
    ["ECONNREFUSED", "refused the connection (ECONNREFUSED). Is the API server running there?"],
    ["ECONNRESET", "closed the connection before the response was complete (ECONNRESET)."],
    ["EPIPE", "closed the connection before the response was complete (EPIPE)."],
    ["ENOTFOUND", "does not exist in DNS (ENOTFOUND)."],
    ["EAI_AGAIN", "cannot be resolved, because DNS does not respond (EAI_AGAIN)."],
    ["EHOSTUNREACH", "cannot be reached from this machine (EHOSTUNREACH)."],
    ["ENETUNREACH", "cannot be reached from this machine (ENETUNREACH)."],
    ["ETIMEDOUT", "does not respond (ETIMEDOUT)."],
    ["EOTHER", "failed (it was EOTHER)."],
  ])("says that the server is unreachable after %s, and why", (code, why) => {
    const cause = failed(code);
    expect(explain(cause)).toMatchObject({
      code: "Unreachable",
      message: `Cannot get it: https://api:6443 ${why}`,
      cause,
    });
  });

  it.each([
    [failed("EODD", ""), "failed (EODD)."],
    [failed(undefined, "no code"), "failed (no code)."],
    [{ code: "ENODETAIL" }, "failed (ENODETAIL)."],
    ["a string", "failed ()."],
    [Object.assign(new Error(""), { errors: [failed("EHOSTUNREACH")] }), "cannot be reached from this"],
  ])("explains %j as far as it can", (error, why) => {
    expect(explain(error)).toMatchObject({
      code: "Unreachable",
      message: expect.stringContaining(`Cannot get it: https://api:6443 ${why}`),
    });
  });

  const authority = "Set certificate-authority to the authority that signed the server's certificate.";
  const expired = "Renew the server's certificate, or correct the clock of this machine.";
  const plain = "The server does not speak TLS on this port.";
  const rejected = "The server rejected the handshake. Check the client certificate.";
  const material = "Check the certificates and the key in the credentials.";
  const both = "Check the certificates of client and server.";
  it.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", authority],
    ["SELF_SIGNED_CERT_IN_CHAIN", authority],
    ["UNABLE_TO_GET_ISSUER_CERT", authority],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", authority],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", authority],
    ["CERT_UNTRUSTED", authority],
    ["CERT_SIGNATURE_FAILURE", authority],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "Set tls-server-name to a name in the certificate"],
    ["CERT_HAS_EXPIRED", expired],
    ["CERT_NOT_YET_VALID", expired],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", rejected],
    ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", rejected],
    ["ERR_SSL_KEY_USAGE", material],
    ["ERR_TLS_INVALID_CONTEXT", material],
    ["ERR_OSSL_PEM_NO_START_LINE", material],
    ["EPROTO", both],
    ["CERT_CHAIN_TOO_LONG", both],
  ])("says what to check when TLS fails with %s", (code, hint) => {
    const cause = failed(code);
    expect(explain(cause)).toMatchObject({
      code: "Tls",
      message: expect.stringContaining(
        `Cannot get it: the TLS connection to https://api:6443 failed (it was ${code}). ${hint}`,
      ),
      cause,
    });
  });

  it.each(["ssl3_get_record:wrong version number", "tls_get_more_records:packet length too long"])(
    "recognises a port without TLS by %s",
    (message) => {
      expect(explain(failed("EPROTO", message))).toMatchObject({
        code: "Tls",
        message: expect.stringContaining(plain),
      });
    },
  );

  it("blames the token for a header that HTTP does not allow", () => {
    const cause = failed("ERR_INVALID_CHAR");
    expect(explain(cause)).toMatchObject({
      code: "BadConfig",
      message: expect.stringContaining("Check the token in the credentials."),
      cause,
    });
  });

  it("says that the server does not speak HTTP", () => {
    const cause = failed("HPE_INVALID_CONSTANT");
    expect(explain(cause)).toMatchObject({
      code: "BadResponse",
      message: "Cannot get it: https://api:6443 does not speak HTTP (it was HPE_INVALID_CONSTANT).",
      cause,
    });
  });

  it("returns an error that already says what is wrong", () => {
    const error = new KubeError("Forbidden", "no");
    expect(explain(error)).toBe(error);
  });
});
