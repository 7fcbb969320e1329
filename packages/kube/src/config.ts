/** The address of an API server and the credentials for it. */

/** Certificates and key for a TLS connection, as PEM. */
export type TlsMaterial = {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Replaces `ClusterConfig.ca`, so that a certificate authority can rotate. */
  readonly ca?: string | undefined;
};

/** The client's identity. The client calls this before every request, so an implementation caches expensive results. */
export type Credentials = {
  /** Headers to send, such as `Authorization`. */
  headers(): Promise<Readonly<Record<string, string | readonly string[]>>>;
  tls(): Promise<TlsMaterial>;
  /** The server rejected these credentials (401): discard the cache and get new ones. */
  refresh(): Promise<void>;
  /** A sentence that says why the credentials may be outdated. The client adds it to the error of a request that fails. */
  problem?(): string | undefined;
};

/** Where the API server is, how to verify it, and how to authenticate. */
export type ClusterConfig = {
  /** `https://host:port`, with a path if the API is served under one. `http://` is allowed only on loopback. */
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
   * The name that the server's certificate must contain.
   * @default the host in `server`
   */
  readonly tlsServerName?: string | undefined;
  /**
   * An `http://` or `https://` proxy.
   * @default from HTTPS_PROXY and NO_PROXY
   */
  readonly proxyUrl?: string | undefined;
  readonly credentials: Credentials;
};
