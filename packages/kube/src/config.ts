/** The shapes in which an address and its credentials travel from where they were found to where they are used. */

/** PEM texts for a TLS connection. */
export type TlsMaterial = {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Takes the place of `ClusterConfig.ca`, so that a certificate authority can rotate. */
  readonly ca?: string | undefined;
};

/** Who we are. Asked before every request; what is costly is cached inside. */
export type Credentials = {
  /** Headers to send, such as `Authorization`. */
  headers(): Promise<Readonly<Record<string, string | readonly string[]>>>;
  tls(): Promise<TlsMaterial>;
  /** The server refused these credentials (401): forget what is cached and get them anew. */
  refresh(): Promise<void>;
};

/** Where the API server is, how to trust it, and who we are. */
export type ClusterConfig = {
  /** `https://host:port`, with a path if the API lives under one; `http://` only on loopback. */
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace?: string | undefined;
  /**
   * Certificates to trust, as PEM.
   * @default the authorities that Node trusts
   */
  readonly ca?: string | undefined;
  /** @default false */
  readonly skipTlsVerify?: boolean | undefined;
  /**
   * The name that the server's certificate must bear.
   * @default the host in `server`
   */
  readonly tlsServerName?: string | undefined;
  /**
   * `http://` or `https://` proxy.
   * @default what HTTPS_PROXY and NO_PROXY say
   */
  readonly proxyUrl?: string | undefined;
  readonly credentials: Credentials;
};
