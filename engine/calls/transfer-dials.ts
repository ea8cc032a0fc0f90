import type { CallRecord } from "../../storage/records.js";
import type { Logger } from "../log.js";
import type { StreamClaims } from "../security/stream-token.js";
import { accountNumber } from "../telephony/account-numbers.js";
import { callInfoIn } from "../telephony/call-info.js";
import type { Dial } from "../telephony/call-instructions.js";
import { phoneVendor } from "../telephony/phone-vendors.js";
import { TALK_MAX_SEC, TRANSFER_RING_SEC } from "../telephony/transfer-report.js";
import type { PhoneNumbers } from "../tenancy/agents/phone-numbers.js";
import type { Organizations } from "../tenancy/organizations.js";
import { type Continuations, continuationUrl } from "./continuations.js";

/** Names the caller's own number as what the person of a transfer sees. */
const CALLER = "caller";

export interface TransferDialsOptions {
  readonly continuations: Pick<Continuations, "recordOf" | "transferTokenFor">;
  readonly organizations: Pick<Organizations, "find">;
  /** Undefined with a simulated vendor: agents may show every number. */
  readonly phoneNumbers: Pick<PhoneNumbers, "isAllowed"> | undefined;
  readonly log: Logger;
}

/** The settings of a transfer's second leg: the number that the person sees, and the longest conversation. */
export class TransferDials {
  readonly #options: TransferDialsOptions;

  constructor(options: TransferDialsOptions) {
    this.#options = options;
  }

  /** `base`: `https://host` of this server as vendors reach it. The two talk no longer than the plan's longest call. */
  async of(
    claims: StreamClaims,
    base: string,
    { to, callerId: wanted }: { readonly to: string; readonly callerId?: string | undefined },
  ): Promise<Dial> {
    const { continuations, organizations } = this.#options;
    const call = await continuations.recordOf(claims);
    const found = await organizations.find(claims.orgId);
    const { transferCallerId } = phoneVendor(claims.vendor)?.capabilities ?? {};
    const callerId =
      transferCallerId === "caller" && wanted === CALLER
        ? ((call && callersNumberOf(call)) ?? (await this.callerIdOf(call)))
        : await this.callerIdOf(call, wanted);
    return {
      to,
      ringSec: TRANSFER_RING_SEC,
      talkMaxSec: Math.min(found?.plan.limits.maxCallDurationSec ?? TALK_MAX_SEC, TALK_MAX_SEC),
      resultUrl: continuationUrl(base, continuations.transferTokenFor(claims)),
      callerId,
    };
  }

  /** The number of the call, or another one of the organization's; undefined where neither is known. */
  async callerIdOf(call: CallRecord | undefined, wanted?: string): Promise<string | undefined> {
    const own = call && ownNumberOf(call);
    if (call === undefined || wanted === undefined || wanted === CALLER || wanted === own)
      return own;
    const { phoneNumbers, log } = this.#options;
    const { orgId, id: callId } = call;
    if (phoneNumbers === undefined || (await phoneNumbers.isAllowed(orgId, wanted))) return wanted;
    log.warn(
      { orgId, callId },
      "a transfer shows the number of the call: the organization may not show the other one",
    );
    return own;
  }
}

/** The account's number in this call. */
export function ownNumberOf({ metadata }: Pick<CallRecord, "metadata">): string | undefined {
  const info = callInfoIn(metadata);
  const own = info?.direction === "outbound" ? info.from : info?.to;
  // Some vendors write it without the plus.
  return own === undefined ? undefined : accountNumber(own);
}

/** A vendor shows a number of another account only if it is the caller's, and the caller has called this account. */
function callersNumberOf({ metadata }: CallRecord): string | undefined {
  const { direction, from } = callInfoIn(metadata) ?? {};
  return direction !== "inbound" || from === undefined ? undefined : accountNumber(from);
}
