/** Which credentials the API server accepts. Tokens and certificates rotate: the server then rejects the earlier ones. */

/** What a request proves its sender with. */
export interface Proof {
  readonly authorization: string | undefined;
  /** The client certificate of the connection. */
  readonly cert: string | undefined;
}

/** A password, and a token that is written into a kubeconfig, do not rotate. */
const fixed = {
  token: "fixed-token",
  basic: `Basic ${Buffer.from("sim:secret").toString("base64")}`,
  certificate: "-----BEGIN CERTIFICATE-----\nfixed",
};

export class Accounts {
  #rotations = 0;

  get token(): string {
    return `token-${this.#rotations}`;
  }

  get certificate(): string {
    return `-----BEGIN CERTIFICATE-----\n${this.#rotations}`;
  }

  readonly fixed = fixed;

  rotate(): void {
    this.#rotations += 1;
  }

  accepts({ authorization, cert }: Proof): boolean {
    const accepted = [`Bearer ${this.token}`, `Bearer ${fixed.token}`, fixed.basic];
    if (authorization !== undefined) return accepted.includes(authorization);
    return cert === this.certificate || cert === fixed.certificate;
  }
}
