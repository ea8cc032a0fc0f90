import type { IpcMessage } from "../../engine/cluster/ipc-link.js";
import type { LogLevel } from "../../engine/log.js";
import type { SessionSettings } from "./worker-server.js";

/** Everything that a session process is told at its start. */
export interface SessionOrders {
  /** No other process of this run of the box has had it. */
  readonly name: number;
  readonly settings: SessionSettings;
  readonly keys: SessionKeys;
  /** As the database says it. */
  readonly writers: "one" | "many";
  /** Names the process in the call records that it opens. */
  readonly runId: string;
  /** The first of its box, which has to put right what an earlier run has left. */
  readonly isFirst: boolean;
  /** Has what one process of the box has: the port of AudioSocket, the deletion of old recordings. */
  readonly isKeeper: boolean;
  readonly logLevel: LogLevel;
}

export interface SessionKeys {
  readonly encryptionKey: string;
  readonly encryptionKeysOld: readonly string[];
  readonly jwtSecretsOld: readonly string[];
  readonly jwtExpiresIn: string;
}

/** What the owner of the box posts to a session process. */
export type FromOwner =
  | { readonly kind: "begin"; readonly orders: SessionOrders }
  | { readonly kind: "message"; readonly message: IpcMessage };
