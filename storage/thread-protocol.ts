/** What the storage thread is started with. */
export interface ThreadSettings {
  readonly filePath: string;
  /** Refuses to start beside another server on the file. */
  readonly isServer?: boolean;
}

/** One SQL statement with its values, as Kysely compiles it. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * The statements of one request take effect together or not at all. When `guarded`, the first one is a condition: if it
 * touches no row, nothing of the request happens.
 */
export interface ThreadRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
  readonly guarded: boolean;
}

export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows inserted, updated or deleted; of a statement with `returning`, the rows returned. */
  readonly changes: number;
}

/** Why a statement was refused, in a form that survives the way between threads. Never holds values of rows. */
export type Fault =
  | { readonly kind: "unique"; readonly table: string; readonly columns: string }
  | { readonly kind: "foreignKey" }
  | { readonly kind: "other"; readonly code: string; readonly message: string };

export type Outcome =
  /** One result a statement, in order. */
  | { readonly kind: "done"; readonly results: readonly StatementResult[] }
  /** The guard of the request touched no row. */
  | { readonly kind: "notApplied" }
  | { readonly kind: "fault"; readonly fault: Fault };

export interface Reply {
  readonly id: number;
  readonly outcome: Outcome;
}

export type ToThread =
  | { readonly kind: "requests"; readonly requests: readonly ThreadRequest[] }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "ready" }
  | {
      readonly kind: "group";
      readonly replies: readonly Reply[];
      /** False when the group only read, or was lost. */
      readonly committed: boolean;
    };

/** What a backup's thread is started with. */
export interface BackupSettings {
  readonly sourcePath: string;
  readonly targetPath: string;
}

/** What it says before it ends. */
export interface BackupReply {
  readonly fault: Fault | undefined;
}
