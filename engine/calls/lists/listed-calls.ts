import type { RequestErrorCode } from "../../../storage/parley-error.js";
import { RequestError } from "../../request-error.js";
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
  /** The vendor was asked: the call rings, or its end is recorded. */
  | { readonly kind: "placed" }
  /** No call was placed. */
  | {
      readonly kind: "refused";
      readonly code: RequestErrorCode;
      readonly message: string;
      /** Undefined if time changes nothing. */
      readonly retryAfterSec: number | undefined;
    };

/** Whoever can place calls of call lists: a worker, or the primary, which chooses one. Each call is asked for once. */
export interface CallPlacer {
  /** Rejects only if it is unknown whether the call was placed; its row says so then. */
  placeListedCall(order: ListedOrder): MaybePromise<ListedPlacement>;
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
      await this.#options.outboundCalls.place(tenant, { ...call, vendor: named }, row);
      return { kind: "placed" };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { message, retryAfterSec } = error;
      // The vendor has answered, and nobody can read whether it calls: asking again and again might call again and again.
      const isUnreadable = error.cause instanceof VendorError && error.cause.fault === "badAnswer";
      const code = isUnreadable ? "call_rejected" : error.code;
      return { kind: "refused", code, message, retryAfterSec };
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
