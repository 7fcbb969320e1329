/** A bug that can be planted into the built code. */
import type { Width } from "./plan.ts";

export interface Bug {
  readonly about: string;
  /** Which seeds can show it. @default those that run only the candidate */
  readonly width?: Width;
  /** Few seeds show it. The search begins shortly before one that does, which saves minutes. @default --from */
  readonly firstSeed?: number;
  /** Why the simulation hardly ever gets there. The exhaustive search finds it. */
  readonly onlySearched?: string;
  /** `file` starts with the name of the package. */
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}
