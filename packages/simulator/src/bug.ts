/** A bug that can be planted into the built code. */
export interface Bug {
  readonly about: string;
  /** Found by the wide simulation: the code is not a part of the other one. */
  readonly wide?: boolean;
  /** `file` starts with the name of the package. */
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}
