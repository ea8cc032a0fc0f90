import type { Logger } from "../log.js";

/** What can be asked of one vendor about a call that it carries. */
export interface PhoneLegApi {
  /** A call that has ended already is a success. Rejects with a VendorError. */
  hangUp(callRef: string): Promise<void>;
  /** The call leaves its stream for the document. Absent where only the stream's own document counts. */
  redirect?(callRef: string, document: string): Promise<void>;
}

/** The telephone's side of calls, at vendors whose accounts are configured. None of its promises rejects. */
export class PhoneLegs {
  readonly #apis: Readonly<Record<string, PhoneLegApi | undefined>>;
  readonly #log: Logger;
  /** Vendors of which the log has been told that they have no account: one line each, not one a call. */
  readonly #told = new Set<string>();

  /** By the vendors' names. */
  constructor(apis: Readonly<Record<string, PhoneLegApi | undefined>>, log: Logger) {
    this.#apis = apis;
    this.#log = log;
  }

  /** Where it cannot be asked, the end of the stream has to be enough: our document ends the call behind it. */
  async hangUp(vendor: string, callRef: string): Promise<void> {
    const api = this.#apis[vendor];
    if (api === undefined || callRef === "") {
      if (this.#told.has(vendor)) return;
      this.#told.add(vendor);
      const words =
        "calls are hung up by the end of their streams only: no account, or calls without an id";
      this.#log.warn({ vendor }, words);
      return;
    }
    try {
      await api.hangUp(callRef);
    } catch (error) {
      this.#log.error({ vendor, error }, "a call could not be hung up at its vendor");
    }
  }

  /** Whether the vendor has taken the call over. */
  async redirect(vendor: string, callRef: string, document: string): Promise<boolean> {
    const api = this.#apis[vendor];
    if (api?.redirect === undefined || callRef === "") {
      const words =
        "a call cannot be transferred: the vendor's account is not configured, or cannot do it";
      this.#log.warn({ vendor }, words);
      return false;
    }
    try {
      await api.redirect(callRef, document);
      return true;
    } catch (error) {
      this.#log.error({ vendor, error }, "a call could not be transferred");
      return false;
    }
  }
}
