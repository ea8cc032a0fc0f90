import type { Fault } from "../statements/fault.js";
import type { Statement, StatementResult } from "../statements/statement-port.js";
import type { DatabaseReport } from "./database-check.js";
import type { FileSettings } from "./open-store-file.js";

/**
 * The statements of one request take effect together or not at all. When `guarded`, the first one is a condition: if it
 * touches no row, nothing of the request happens.
 */
export interface ThreadRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
  readonly guarded: boolean;
}

export type Outcome =
  /** One result per statement, in order. */
  | { readonly kind: "done"; readonly results: readonly StatementResult[] }
  /** The guard of the request touched no row. */
  | { readonly kind: "notApplied" }
  | { readonly kind: "fault"; readonly fault: Fault };

export interface Reply {
  readonly id: number;
  readonly outcome: Outcome;
}

/** The state of the database's file. */
export interface StoreReport {
  /** Why no call may begin. */
  readonly fault: Fault | undefined;
  /** A warning for the operator, while calls continue. */
  readonly warning: string | undefined;
}

/** Answered with `ready` or `refused`. */
export interface OpenFile {
  readonly kind: "open";
  readonly settings: FileSettings;
}

export type ToFile =
  | { readonly kind: "requests"; readonly requests: readonly ThreadRequest[] }
  /** Answered with a report. */
  | { readonly kind: "look" }
  | { readonly kind: "close" };

export type FromFile =
  | {
      readonly kind: "ready";
      /** False if a server had to recreate its lock, so another live server may have lost it. */
      readonly lockWasThere: boolean;
    }
  /** The file cannot be opened; no message follows. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "report"; readonly report: StoreReport }
  | {
      readonly kind: "group";
      readonly replies: readonly Reply[];
      /** False if the group only read, or was lost. */
      readonly committed: boolean;
    }
  /** The file is closed; no message follows. */
  | { readonly kind: "closed" };

/** A thread may have several files; its client numbers them. */
export interface ToThread {
  readonly fileId: number;
  readonly message: OpenFile | ToFile;
}

export interface FromThread {
  readonly fileId: number;
  readonly message: FromFile;
}

/** The settings of a backup's thread. */
export interface BackupSettings {
  readonly sourcePath: string;
  readonly targetPath: string;
}

/** The thread's message before it ends. */
export type BackupReply =
  | { readonly report: DatabaseReport; readonly fault?: undefined }
  | { readonly fault: Fault };
