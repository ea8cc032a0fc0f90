import type { CallControlApi, CallToPlace } from "../../telephony/call-control.js";
import type { CallValues } from "../../telephony/call-values.js";
import { accountVariables, DEFAULT_PHONE_VENDOR } from "../../telephony/phone-vendors.js";
import { PHONE_VENDOR_NAMES, type PhoneVendorName } from "../../telephony/telephony-settings.js";

/** Where the vendor requests the instructions for an answered call. */
export const ANSWER_PATH = "/api/telephony/answer";
/** Where the vendor reports a call's status. */
export const STATUS_PATH = "/api/telephony/status";

export interface OutboundOrder extends Pick<CallValues, "variables" | "overrides"> {
  readonly agentId: string;
  /** E.164. */
  readonly to: string;
  /** E.164. */
  readonly from: string;
  /** Hangs up on answering machines. */
  readonly detectMachine: boolean;
  /** The telephony vendor that places the call; omitted: the first with an account. */
  readonly vendor?: PhoneVendorName | undefined;
}

export interface QueuedCall {
  /** The id and `sessionId` of the call record that is written once the call is answered or has failed. */
  readonly id: string;
  readonly agentId: string;
  readonly status: "queued";
}

type PlacingApi = CallControlApi & Required<Pick<CallControlApi, "place">>;

/** One vendor's account with the callback addresses on this server. */
export interface PlacingVendor {
  readonly vendor: PhoneVendorName;
  /** Resolves with the vendor's id of the call. Rejects with a VendorError. */
  place(order: OutboundOrder, token: string, ringTimeoutSec: number): Promise<string>;
}

export interface OutboundTelephonyOptions {
  /** By the vendors' names. */
  readonly apis: Readonly<Record<string, CallControlApi | undefined>>;
  /** This server's address as vendors reach it, read for every call; undefined if they cannot reach it. */
  readonly baseUrl: (() => string) | undefined;
}

/** The vendors whose accounts can place calls. */
export class OutboundTelephony {
  readonly #options: OutboundTelephonyOptions;

  constructor(options: OutboundTelephonyOptions) {
    this.#options = options;
  }

  /** The named vendor, or the first that can place calls; or the names of the missing settings. */
  vendorFor(
    wanted: PhoneVendorName | undefined,
  ): PlacingVendor | { readonly missing: readonly string[] } {
    const { baseUrl } = this.#options;
    const names = wanted === undefined ? PHONE_VENDOR_NAMES : [wanted];
    const vendor = names.find((name) => this.#api(name) !== undefined);
    const api = vendor && this.#api(vendor);
    if (vendor === undefined || api === undefined || baseUrl === undefined) {
      const ofAccount = api === undefined ? accountVariables(wanted ?? DEFAULT_PHONE_VENDOR) : [];
      return { missing: [...ofAccount, ...(baseUrl === undefined ? ["PUBLIC_BASE_URL"] : [])] };
    }
    const base = baseUrl().replace(/\/$/, "");
    const place: PlacingVendor["place"] = (order, token, ringTimeoutSec) => {
      const call: CallToPlace = {
        to: order.to,
        from: order.from,
        detectMachine: order.detectMachine,
        ringTimeoutSec,
        answerUrl: `${base}${ANSWER_PATH}?token=${token}`,
        statusUrl: `${base}${STATUS_PATH}?token=${token}`,
      };
      return api.place(call);
    };
    return { vendor, place };
  }

  /** Ends a call that is still ringing. Rejects with a VendorError. */
  async hangUp(vendor: string, callRef: string): Promise<void> {
    await this.#options.apis[vendor]?.hangUp(callRef, "ringing");
  }

  #api(vendor: PhoneVendorName): PlacingApi | undefined {
    const api = this.#options.apis[vendor];
    return api !== undefined && canPlace(api) ? api : undefined;
  }
}

function canPlace(api: CallControlApi): api is PlacingApi {
  return api.place !== undefined;
}
