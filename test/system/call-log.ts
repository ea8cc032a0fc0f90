import type { LogFields, Logger } from "../../engine/log.js";

interface Waiting {
  readonly orgId: string;
  readonly count: number;
  readonly resolve: () => void;
}

/** Hands every line on, and tells when an organization's calls have ended: the server writes no other sign of it. */
export class CallLog implements Logger {
  readonly #next: Logger;
  readonly #endsByOrg = new Map<string, number>();
  #waiting: Waiting[] = [];

  constructor(next: Logger) {
    this.#next = next;
  }

  /** Resolves when so many of its calls have ended since the server was started. */
  ended(orgId: string, count: number): Promise<void> {
    if ((this.#endsByOrg.get(orgId) ?? 0) >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ orgId, count, resolve }));
  }

  debug(fields: LogFields, message: string): void {
    this.#next.debug(fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#next.info(fields, message);
    if (message === "call ended" && typeof fields["orgId"] === "string")
      this.#note(fields["orgId"]);
  }

  warn(fields: LogFields, message: string): void {
    this.#next.warn(fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#next.error(fields, message);
  }

  #note(orgId: string): void {
    const count = (this.#endsByOrg.get(orgId) ?? 0) + 1;
    this.#endsByOrg.set(orgId, count);
    const due = this.#waiting.filter((each) => each.orgId === orgId && each.count <= count);
    this.#waiting = this.#waiting.filter((each) => !due.includes(each));
    for (const { resolve } of due) resolve();
  }
}
