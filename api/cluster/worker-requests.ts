import type { IpcMessage } from "../../engine/cluster/ipc-link.js";
import type { LogLevel } from "../../engine/log.js";
import type { WorkerSettings } from "./worker-server.js";

/** Everything that a worker gets at its start. */
export interface WorkerRequests {
  /** Unique within this run of the server. */
  readonly name: number;
  readonly settings: WorkerSettings;
  readonly keys: WorkerKeys;
  /** The value of the database. */
  readonly writers: "one" | "many";
  /** Identifies the process in the call records that it opens. */
  readonly runId: string;
  /** The first of its server, which has to repair what an earlier run has left. */
  readonly isFirst: boolean;
  /** Has what only one process of the server has: the port of AudioSocket, the deletion of old recordings. */
  readonly isKeeper: boolean;
  readonly logLevel: LogLevel;
}

export interface WorkerKeys {
  readonly encryptionKey: string;
  readonly encryptionKeysOld: readonly string[];
  readonly jwtSecretsOld: readonly string[];
  readonly jwtExpiresIn: string;
}

/** The primary's messages to a worker. */
export type FromPrimary =
  | { readonly kind: "begin"; readonly orders: WorkerRequests }
  | { readonly kind: "message"; readonly message: IpcMessage };
