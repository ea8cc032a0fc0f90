import type { RequestErrorCode } from "../../../storage/parley-error.js";
import { RequestError } from "../../request-error.js";
import { TelephonyError } from "../../telephony/telephony-request.js";
import { PHONE_VENDOR_NAMES } from "../../telephony/telephony-settings.js";
import {
  ALL_SCOPES,
  accessRefusal,
  findOrganizationWithPlan,
  type Tenant,
  type TenantStores,
} from "../../tenancy/tenant.js";
import type { MaybePromise } from "../../time/maybe-promise.js";
import { VendorError } from "../../vendors/contracts.js";
import type { ListedCall, OutboundCalls } from "../outbound/outbound-calls.js";

/** A call of a call list, on its way to the worker that places it. */
export interface ListedOrder {
  readonly orgId: string;
  readonly agentId: string;
  readonly from: string;
  readonly to: string;
  readonly detectMachine: boolean;
  /** null: the first vendor that can place calls. */
  readonly vendor: string | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly apiKeyId: string | null;
  readonly row: ListedCall;
}

export type ListedPlacement =
  /** The vendor was asked: the call rings, or its end is recorded. `isReplyLost`: or no call was placed. */
  | { readonly kind: "placed"; readonly isReplyLost?: true }
  /** No call was placed. */
  | {
      readonly kind: "refused";
      readonly code: RequestErrorCode;
      readonly message: string;
      /** Undefined if time changes nothing. */
      readonly retryAfterSec: number | undefined;
      /** The vendor cannot be reached, or has answered with an error. */
      readonly isOfVendor?: true;
      /** The vendor has answered with an error, perhaps because of this number only. */
      readonly isOfNumber?: boolean;
    };

/** Places calls of call lists: a worker, or the primary, which chooses a worker. Each call is requested once. */
export interface CallPlacer {
  /** Rejects only if it is unknown whether the call was placed; its row says so then. */
  placeListedCall(order: ListedOrder): MaybePromise<ListedPlacement>;
}

const STATUS_UNAUTHORIZED = 401;
const STATUS_PAYMENT_REQUIRED = 402;
const STATUS_FORBIDDEN = 403;
const STATUS_NOT_FOUND = 404;

/** The account is out of order: every other number would be refused too. */
const ACCOUNT_STATUSES: ReadonlySet<number> = new Set([
  STATUS_UNAUTHORIZED,
  STATUS_PAYMENT_REQUIRED,
]);
/** Vendors refuse single numbers and countries with these. */
const NUMBER_STATUSES: ReadonlySet<number> = new Set([STATUS_FORBIDDEN, STATUS_NOT_FOUND]);

/** What the vendor's answer means for the row. A list repeats its orders by itself, so fewer answers may be retried. */
function placementOf({ code, message, retryAfterSec, cause }: RequestError): ListedPlacement {
  const refused = { kind: "refused", code, message, retryAfterSec } as const;
  if (!(cause instanceof VendorError)) return refused;
  const ofVendor = { ...refused, isOfVendor: true } as const;
  if (!(cause instanceof TelephonyError)) {
    return { ...ofVendor, message: "the telephony vendor cannot be reached" };
  }
  const { status = 0, fault } = cause;
  if (ACCOUNT_STATUSES.has(status)) {
    const reason = `the telephony vendor refuses the account, with the status ${status}`;
    return { ...refused, message: reason, retryAfterSec: undefined };
  }
  if (fault === "refused" || NUMBER_STATUSES.has(status)) {
    return { ...refused, code: "call_rejected", retryAfterSec: undefined };
  }
  if (fault === "rateLimited") {
    return {
      ...ofVendor,
      message: `the telephony vendor accepts no more calls for now (${status})`,
    };
  }
  const reason = `the telephony vendor answers with the status ${status}`;
  return { ...ofVendor, message: reason, isOfNumber: true };
}

export interface ListedCallsOptions {
  readonly database: TenantStores;
  readonly outboundCalls: Pick<OutboundCalls, "place">;
}

/** Places the calls of call lists, in a worker. */
export class ListedCalls implements CallPlacer {
  readonly #options: ListedCallsOptions;

  constructor(options: ListedCallsOptions) {
    this.#options = options;
  }

  async placeListedCall(order: ListedOrder): Promise<ListedPlacement> {
    try {
      const tenant = await this.#tenant(order);
      const { row, vendor, ...call } = order;
      const named = PHONE_VENDOR_NAMES.find((name) => name === vendor);
      const { outboundCalls } = this.#options;
      const { isReplyLost } = await outboundCalls.place(tenant, { ...call, vendor: named }, row);
      return isReplyLost === true ? { kind: "placed", isReplyLost } : { kind: "placed" };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return placementOf(error);
    }
  }

  async #tenant({ orgId, apiKeyId }: ListedOrder): Promise<Tenant> {
    const owner = await findOrganizationWithPlan(this.#options.database, orgId);
    if (owner === undefined) throw new RequestError("not_found", "there is no such organization");
    const who = { userId: undefined, apiKeyId: apiKeyId ?? undefined, scopes: ALL_SCOPES };
    const tenant = { ...owner, ...who };
    const refusal = accessRefusal(tenant, "dashboard");
    if (refusal !== undefined) throw refusal;
    return tenant;
  }
}
