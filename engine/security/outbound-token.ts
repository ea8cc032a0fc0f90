import type { Clock } from "../time/clock.js";
import { SignedIds } from "./signed-ids.js";

/** Which placed call a request of the telephony vendor is about. */
export interface OutboundClaims {
  readonly callId: string;
  readonly orgId: string;
  readonly agentId: string;
  /** The telephony vendor that carries the call. */
  readonly vendor: string;
  /** The organization's own account carries it; left out: the installation's. */
  readonly ownAccount?: boolean;
}

/** The last of a call's reports comes when it ends, and the vendor ends calls after four hours. */
const OUTBOUND_TOKEN_LIFETIME_MS = 5 * 60 * 60 * 1_000;
/** Releases before this one placed calls there only, and their tokens name no vendor. */
const FIRST_VENDOR = "twilio";
/** What a token says of a call that the organization's own account carries. */
const OWN_ACCOUNT = "own";
const KEY_LABEL = "parley: outbound call token, version 2";

/**
 * Takes the place of an API key in the addresses that the vendor is given for a placed call. It is good for that call's
 * answer and reports alone.
 */
export class OutboundTokens {
  readonly #ids: SignedIds;

  constructor({ secret, clock }: { readonly secret: string; readonly clock: Clock }) {
    const lifetimeMs = OUTBOUND_TOKEN_LIFETIME_MS;
    this.#ids = new SignedIds({ secret, label: KEY_LABEL, lifetimeMs, clock });
  }

  mint({ callId, orgId, agentId, vendor, ownAccount = false }: OutboundClaims): string {
    return this.#ids.mint([callId, orgId, agentId, vendor, ...(ownAccount ? [OWN_ACCOUNT] : [])]);
  }

  /** Undefined for a token that is forged, broken or expired. */
  verify(token: string): OutboundClaims | undefined {
    const ids = this.#ids.verify(token);
    if (ids === undefined) return undefined;
    const [callId = "", orgId = "", agentId = "", vendor = FIRST_VENDOR] = ids;
    return { callId, orgId, agentId, vendor, ...(ids[4] === OWN_ACCOUNT && { ownAccount: true }) };
  }
}
