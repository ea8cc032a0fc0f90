import { invalidFields, type RequestError } from "../../request-error.js";
import type {
  CallAccount,
  CallControlApi,
  CallControlApis,
  CallToPlace,
} from "../../telephony/call-control.js";
import type { CallValues } from "../../telephony/call-values.js";
import { accountVariables, phoneVendor } from "../../telephony/phone-vendors.js";
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
  /** Tells answering machines from people. */
  readonly detectMachine: boolean;
  /** The telephony vendor that places the call; omitted: the first with an account. */
  readonly vendor?: PhoneVendorName | undefined;
}

export interface QueuedCall {
  /** The id and `sessionId` of the call record that is written once the call is answered or has failed. */
  readonly id: string;
  readonly agentId: string;
  readonly status: "queued";
  /** The vendor's reply was lost: it is not known whether the call rings. */
  readonly isReplyLost?: true;
}

type PlacingApi = CallControlApi & Required<Pick<CallControlApi, "place">>;

/** One vendor's account with the callback addresses on this server. */
export interface PlacingVendor {
  readonly vendor: PhoneVendorName;
  /** The organization's own account places the call. */
  readonly ownAccount: boolean;
  /** Whether the vendor can tell machines from people. */
  readonly detectsMachines: boolean;
  /** Resolves with the vendor's id of the call. Rejects with a VendorError. */
  place(
    order: OutboundOrder & Pick<CallToPlace, "detectMessageEnd">,
    token: string,
    ringTimeoutSec: number,
  ): Promise<string>;
}

export interface OutboundTelephonyOptions {
  readonly apis: CallControlApis;
  /** The vendor of the organization's own account that the number is in; undefined: the installation's account. */
  readonly ownVendorOf: (orgId: string, number: string) => Promise<string | undefined>;
  /** This server's address as vendors reach it, read for every call; undefined if they cannot reach it. */
  readonly baseUrl: (() => string) | undefined;
}

/** The vendors whose accounts can place calls. */
export class OutboundTelephony {
  readonly #options: OutboundTelephonyOptions;

  constructor(options: OutboundTelephonyOptions) {
    this.#options = options;
  }

  /**
   * The organization's own account that `from` is in; else, of the installation's, that of the named vendor, or the first that
   * can. Or the settings that are missing, by their names. RequestError `invalid_request`: `from` is at another vendor, or in an
   * account that cannot place calls.
   */
  async vendorFor(
    orgId: string,
    { vendor: wanted, from }: Pick<OutboundOrder, "vendor" | "from">,
  ): Promise<PlacingVendor | { readonly missing: readonly string[] }> {
    const { baseUrl, ownVendorOf } = this.#options;
    const own = await ownVendorOf(orgId, from);
    if (own !== undefined && wanted !== undefined && own !== wanted) {
      const message = `expected ${own}, where \`from\` is a number of the organization's account`;
      throw invalidFields([{ path: "vendor", message }]);
    }
    const chosen = own ?? wanted;
    const names = PHONE_VENDOR_NAMES.filter((name) => chosen === undefined || name === chosen);
    const found = await this.#first(names, orgId, own !== undefined);
    if (found === undefined && own !== undefined) throw incompleteAccount(own);
    if (found === undefined || baseUrl === undefined) {
      const ofAccount =
        found === undefined ? accountVariables(names.length === 1 ? names[0] : undefined) : [];
      return { missing: [...ofAccount, ...(baseUrl === undefined ? ["PUBLIC_BASE_URL"] : [])] };
    }
    const { vendor, api } = found;
    const base = baseUrl().replace(/\/$/, "");
    const place: PlacingVendor["place"] = (order, token, ringTimeoutSec) => {
      const call: CallToPlace = {
        to: order.to,
        from: order.from,
        detectMachine: order.detectMachine,
        detectMessageEnd: order.detectMessageEnd,
        ringTimeoutSec,
        answerUrl: `${base}${ANSWER_PATH}?token=${token}`,
        statusUrl: `${base}${STATUS_PATH}?token=${token}`,
      };
      return api.place(call);
    };
    const detection = phoneVendor(vendor)?.capabilities.machineDetection ?? "none";
    const detectsMachines = detection !== "none";
    return { vendor, ownAccount: own !== undefined, detectsMachines, place };
  }

  /** Ends a call that has not reached its agent, whether it rings or is answered. Rejects with a VendorError. */
  async hangUp(account: CallAccount, callRef: string): Promise<void> {
    await (await this.#options.apis.of(account))?.hangUp(callRef, "ringingOrAnswered");
  }

  async #first(
    names: readonly PhoneVendorName[],
    orgId: string,
    ownAccount: boolean,
  ): Promise<{ readonly vendor: PhoneVendorName; readonly api: PlacingApi } | undefined> {
    for (const vendor of names) {
      const api = await this.#options.apis.of({ vendor, orgId, ownAccount });
      if (api !== undefined && canPlace(api)) return { vendor, api };
    }
    return undefined;
  }
}

/** The platform's settings would not help. */
function incompleteAccount(vendor: string): RequestError {
  const fields = phoneVendor(vendor)?.account?.placesWith ?? [];
  const before = fields.length === 0 ? "" : ` before it has ${fields.join(", ")}`;
  const message = `the organization's account at ${vendor} places no calls${before}`;
  return invalidFields([{ path: "from", message }]);
}

function canPlace(api: CallControlApi): api is PlacingApi {
  return api.place !== undefined;
}
