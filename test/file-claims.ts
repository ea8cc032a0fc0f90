import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

/** Test files that several processes take from one list, each when it is done with its last: none waits for the slowest. */
export class FileClaims {
  readonly #folder: string;

  /** A folder that is empty before the first process begins. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether the file is the caller's to run; for one caller only, of whatever process. */
  take(name: string): boolean {
    try {
      closeSync(openSync(join(this.#folder, `${name.replaceAll("/", "|")}.taken`), "wx"));
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
      throw error;
    }
  }
}
