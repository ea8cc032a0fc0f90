import { statSync } from "node:fs";
import { type Fault, faultCodeOf, messageOf } from "../statements/fault.js";

/**
 * Distinguishes a file from another one in its place. As long as the first is open, even if deleted, no other file has
 * its inode number.
 */
export class FileIdentity {
  readonly #path: string;
  #known: string | undefined;

  /** A missing file is identified when it is first seen. */
  constructor(path: string) {
    this.#path = path;
    this.fault();
  }

  /** Undefined while the file is the one that was first seen. */
  fault(): Fault | undefined {
    const seen = this.#seen();
    if (typeof seen !== "string") return this.#known === undefined ? undefined : seen;
    this.#known ??= seen;
    if (seen === this.#known) return undefined;
    return fault("FILE_REPLACED", `${this.#path} was replaced by another file`);
  }

  #seen(): string | Fault {
    try {
      const { dev, ino } = statSync(this.#path, { bigint: true });
      return `${dev}:${ino}`;
    } catch (error) {
      if (faultCodeOf(error).code === "ENOENT") {
        return fault("FILE_GONE", `${this.#path} was deleted or moved away`);
      }
      return fault("FILE_GONE", `${this.#path} cannot be looked at: ${messageOf(error)}`);
    }
  }
}

function fault(code: "FILE_GONE" | "FILE_REPLACED", message: string): Fault {
  return { kind: "other", code, message };
}
