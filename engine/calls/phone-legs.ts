import type { Logger } from "../log.js";
import { VendorError } from "../vendors/contracts.js";
import { PlivoCalls } from "../vendors/plivo-calls.js";
import { TelnyxCalls } from "../vendors/telnyx-calls.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import type { TelephonySettings } from "./telephony-settings.js";

const ATTEMPTS_MAX = 2;

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
  readonly #pending = new Set<Promise<void>>();
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
    await this.#noted(this.#insist(vendor, () => api.hangUp(callRef)));
  }

  /** Resolves when all that was asked for has been answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** A second time where that may help: a call that goes on costs money, and somebody sits in silence. */
  async #insist(vendor: string, hangUp: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await hangUp();
      } catch (error) {
        const mayHelp = error instanceof VendorError && error.retryable;
        if (mayHelp && attempt < ATTEMPTS_MAX) continue;
        this.#log.error({ vendor, error }, "a call could not be hung up at its vendor");
        return;
      }
    }
  }

  async #noted(work: Promise<void>): Promise<void> {
    this.#pending.add(work);
    await work;
    this.#pending.delete(work);
  }

  /** Whether the vendor's account is configured and can hand calls on, and the call is known by its id. */
  canRedirect(vendor: string, callRef: string): boolean {
    return callRef !== "" && this.#apis[vendor]?.redirect !== undefined;
  }

  /** Whether the vendor has taken the call over. */
  async redirect(vendor: string, callRef: string, document: string): Promise<boolean> {
    const api = this.#apis[vendor];
    if (api?.redirect === undefined || callRef === "") return false;
    try {
      await api.redirect(callRef, document);
      return true;
    } catch (error) {
      this.#log.error({ vendor, error }, "a call could not be transferred");
      return false;
    }
  }
}

/** The vendors' REST APIs that have an account, besides Twilio's, which places calls too. */
export function hangUpApis(
  { telnyx, plivo }: Pick<TelephonySettings, "telnyx" | "plivo">,
  context: VendorContext,
): Readonly<Record<string, PhoneLegApi | undefined>> {
  const { apiKey } = telnyx;
  const { authId, authToken } = plivo;
  const hasPlivo = authId !== undefined && authToken !== undefined;
  return {
    telnyx: apiKey === undefined ? undefined : new TelnyxCalls({ ...telnyx, apiKey }, context),
    plivo: hasPlivo ? new PlivoCalls({ ...plivo, authId, authToken }, context) : undefined,
  };
}
