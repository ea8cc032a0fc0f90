import type { LogFields, Logger } from "../../engine/log.js";
import type { Changes } from "../doubles/changes.js";

/** Forwards every line, notifies of each, and counts the calls that have ended. */
export class CallLog implements Logger {
  readonly #next: Logger;
  readonly #changes: Changes;
  readonly #endsByOrg = new Map<string, number>();

  constructor(next: Logger, changes: Changes) {
    this.#next = next;
    this.#changes = changes;
  }

  /** Returns how many of the organization's calls have ended since the server started. */
  endCount(orgId: string): number {
    return this.#endsByOrg.get(orgId) ?? 0;
  }

  debug(fields: LogFields, message: string): void {
    this.#next.debug(fields, message);
    this.#changes.tell();
  }

  info(fields: LogFields, message: string): void {
    this.#next.info(fields, message);
    const orgId = fields["orgId"];
    if (message === "call ended" && typeof orgId === "string") {
      this.#endsByOrg.set(orgId, this.endCount(orgId) + 1);
    }
    this.#changes.tell();
  }

  warn(fields: LogFields, message: string): void {
    this.#next.warn(fields, message);
    this.#changes.tell();
  }

  error(fields: LogFields, message: string): void {
    this.#next.error(fields, message);
    this.#changes.tell();
  }
}
