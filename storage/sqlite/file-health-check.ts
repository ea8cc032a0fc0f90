import type { Fault } from "../statements/fault.js";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { FileIdentity } from "./file-identity.js";
import type { ServerClaim } from "./server-claim.js";
import type { SqliteFile } from "./sqlite-file.js";
import { SqliteError } from "./sqlite-library.js";
import type { StoreReport } from "./thread-protocol.js";

interface FileHealthCheckOptions {
  readonly file: SqliteFile;
  readonly filePath: string;
  readonly schemaVersion: number;
  /** Absent for a command. */
  readonly claim: ServerClaim | undefined;
}

/** Checks from the storage thread whether the database is still the file that was opened. */
export class FileHealthCheck {
  readonly #options: FileHealthCheckOptions;
  readonly #files: readonly FileIdentity[];

  constructor(options: FileHealthCheckOptions) {
    this.#options = options;
    const { filePath } = options;
    this.#files = [filePath, `${filePath}-wal`].map((path) => new FileIdentity(path));
  }

  /** Why nothing may be written: the data would go into a file that no later start opens. Costs two system calls. */
  writeFault(): Fault | undefined {
    for (const file of this.#files) {
      const fault = file.fault();
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** Everything that can be checked without a request. */
  report(): StoreReport {
    return { fault: this.writeFault() ?? this.#newerSchema(), warning: this.#claimFault() };
  }

  /** The next version, or one of its commands, may have been started on this version's file. */
  #newerSchema(): Fault | undefined {
    const { file, schemaVersion } = this.#options;
    try {
      const found = Number(file.pragma("user_version", { simple: true }));
      if (found <= schemaVersion) return undefined;
      const message = `the schema was migrated to ${found} by a newer version; this one has ${schemaVersion}`;
      return { kind: "other", code: "SCHEMA_NEWER", message };
    } catch (error) {
      if (!(error instanceof SqliteError)) throw error;
      return { kind: "other", code: error.code, message: error.message };
    }
  }

  #claimFault(): string | undefined {
    try {
      this.#options.claim?.renew();
      return undefined;
    } catch (error) {
      if (error instanceof StorageUnavailableError || error instanceof SqliteError)
        return error.message;
      throw error;
    }
  }
}
