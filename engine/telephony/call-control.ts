import type { Logger } from "../log.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import { VendorError } from "../vendors/contracts.js";
import type { AccountNumbersApi } from "./account-numbers.js";
import type { Dial } from "./call-instructions.js";
import { isOutcomeUnknown } from "./telephony-request.js";

const ATTEMPTS_MAX = 2;

/** A call that is to be placed at a vendor. */
export interface CallToPlace {
  /** E.164, or a SIP address at a vendor with warm transfers. */
  readonly to: string;
  /** E.164, a number of the account. */
  readonly from: string;
  /** The vendor asks there what to do when the call is answered. */
  readonly answerUrl: string;
  /** The vendor reports there what becomes of the call. */
  readonly statusUrl: string;
  /** The result is sent to `statusUrl` while the call already continues. */
  readonly detectMachine: boolean;
  /** The result says too when a machine's greeting is over, where the vendor can. Only with `detectMachine`. */
  readonly detectMessageEnd?: boolean | undefined;
  readonly ringTimeoutSec: number;
}

/**
 * Some vendors end a call that rings and one that is answered by different requests. That a call still rings is never known: it may
 * be answered at this moment.
 */
export type HangUpState = "answered" | "ringingOrAnswered";

/** What a call is to do next. Vendors take the document itself, or ask for it at the address. */
export interface NextStep {
  readonly document: string;
  readonly url: string;
}

/** What a vendor has made of an order. `unknown`: it may have carried it out, since its answer was lost or does not say. */
export type OrderAnswer =
  | { readonly kind: "taken" }
  | { readonly kind: "unknown" }
  /** `reason`: words without anything that the vendor said, but its number for the reason. */
  | { readonly kind: "refused"; readonly reason: string };

/** A vendor's REST API, with one account. All of its promises reject with a VendorError. */
export interface CallControlApi {
  /** Resolves with the vendor's id of the call when it is queued. Absent where the account cannot. */
  place?(call: CallToPlace): Promise<string>;
  /** A call that has ended already is a success. */
  hangUp(callRef: string, state?: HangUpState): Promise<void>;
  /** The call leaves its stream and is handed on. Absent where the vendor's REST API cannot. */
  transfer?(callRef: string, dial: Dial): Promise<void>;
  /**
   * The call leaves what it does for the next step. Resolves with false if the call has ended already. Absent where the vendor's
   * REST API cannot.
   */
  redirect?(callRef: string, next: NextStep): Promise<boolean>;
  /** Whether the call rings or is answered. Absent where the vendor's REST API cannot say it. */
  isLive?(callRef: string): Promise<boolean>;
  /** Asks for something that only the account's owner may read. */
  verify(): Promise<void>;
  /** Absent where the vendor has no numbers, or the account lacks what their API wants. */
  readonly numbers?: AccountNumbersApi | undefined;
}

export type WarmTransferApi = CallControlApi &
  Required<Pick<CallControlApi, "place" | "redirect" | "isLive">>;

export function canTransferWarmly(api: CallControlApi): api is WarmTransferApi {
  return api.place !== undefined && api.redirect !== undefined && api.isLive !== undefined;
}

/** Whose account at a vendor carries a call. */
export interface CallAccount {
  readonly vendor: string;
  readonly orgId: string;
  /** The organization's own account; left out: the installation's. */
  readonly ownAccount?: boolean;
}

/** The REST APIs by account. */
export interface CallControlApis {
  /** Undefined where there is no such account, or it cannot be used. */
  of(account: CallAccount): MaybePromise<CallControlApi | undefined>;
}

/** The telephone's side of calls, at vendors whose accounts are known. None of its promises rejects. */
export class CallControl {
  readonly #apis: CallControlApis;
  readonly #log: Logger;
  readonly #pending = new Set<Promise<void>>();
  /** Vendors whose missing account is already logged: one line per vendor, not per call. */
  readonly #reported = new Set<string>();

  constructor(apis: CallControlApis, log: Logger) {
    this.#apis = apis;
    this.#log = log;
  }

  /** Where it cannot be asked, the end of the stream has to be enough: our document ends the call behind it. */
  hangUp(account: CallAccount, callRef: string, state?: HangUpState): Promise<void> {
    return this.#noted(this.#hangUp(account, callRef, state));
  }

  async #hangUp(account: CallAccount, callRef: string, state?: HangUpState): Promise<void> {
    const { vendor } = account;
    const api = callRef === "" ? undefined : await this.#apiOf(account);
    if (api === undefined) {
      if (this.#reported.has(vendor)) return;
      this.#reported.add(vendor);
      const words =
        "calls are hung up only by closing their streams: no account, or calls without an id";
      this.#log.warn({ vendor }, words);
      return;
    }
    await this.#insist(vendor, () => api.hangUp(callRef, state));
  }

  /** Resolves when all that was asked for has been answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Retried if that may help: a call that stays open costs money, and its caller sits in silence. */
  async #insist(vendor: string, hangUp: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await hangUp();
      } catch (error) {
        const mayHelp = error instanceof VendorError && error.retryable;
        if (mayHelp && attempt < ATTEMPTS_MAX) continue;
        this.#log.error({ vendor, error }, "failed to hang up a call at its vendor");
        return;
      }
    }
  }

  async #noted(work: Promise<void>): Promise<void> {
    this.#pending.add(work);
    await work;
    this.#pending.delete(work);
  }

  /** Whether the account can hand calls on, and the call is known by its id. */
  async canTransfer(account: CallAccount, callRef: string): Promise<boolean> {
    return callRef !== "" && (await this.#apiOf(account))?.transfer !== undefined;
  }

  /** Has the vendor take the call over. */
  async transfer(account: CallAccount, callRef: string, dial: Dial): Promise<OrderAnswer> {
    const { vendor } = account;
    const api = await this.#apiOf(account);
    if (api?.transfer === undefined || callRef === "")
      return { kind: "refused", reason: "no account at the telephony vendor can make it" };
    try {
      await api.transfer(callRef, dial);
      return { kind: "taken" };
    } catch (error) {
      this.#log.error({ vendor, error }, "failed to transfer a call");
      if (isOutcomeUnknown(error)) return { kind: "unknown" };
      const reason = error instanceof VendorError ? error.message : "internal error";
      return { kind: "refused", reason };
    }
  }

  /** The account's API where it can do all that a warm transfer needs. `callRef` is undefined where no request names the caller. */
  async warmTransferApi(
    account: CallAccount,
    callRef: string | undefined,
  ): Promise<WarmTransferApi | undefined> {
    const api = callRef === "" ? undefined : await this.#apiOf(account);
    return api !== undefined && canTransferWarmly(api) ? api : undefined;
  }

  /** An account that cannot be read is none for the moment. */
  async #apiOf(account: CallAccount): Promise<CallControlApi | undefined> {
    try {
      return await this.#apis.of(account);
    } catch (error) {
      const { vendor, orgId } = account;
      this.#log.error({ vendor, orgId, error }, "failed to read a telephony account");
      return undefined;
    }
  }
}
