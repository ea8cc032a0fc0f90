import type { Clock } from "../time/clock.js";
import { SignedIds } from "./signed-ids.js";

/** The placed call that a request of the telephony vendor belongs to. */
export interface OutboundClaims {
  readonly callId: string;
  readonly orgId: string;
  readonly agentId: string;
  /** The telephony vendor that carries the call. */
  readonly vendor: string;
  /** Whether the organization's own account carries the call. Default: the installation's account. */
  readonly ownAccount?: boolean;
}

/** The vendor sends the last report when a call ends, and it ends calls after four hours. */
const OUTBOUND_TOKEN_LIFETIME_MS = 5 * 60 * 60 * 1_000;
/** Tokens of earlier releases name no vendor: those releases placed calls only there. */
const FIRST_VENDOR = "twilio";
/** Marks a call that the organization's own account carries. */
const OWN_ACCOUNT = "own";
const KEY_LABEL = "parley: outbound call token, version 2";

/**
 * Replaces an API key in the URLs that the vendor gets for a placed call. It is valid only for that call's answer and
 * reports.
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

  /** Returns undefined if the token is forged, malformed or expired. */
  verify(token: string): OutboundClaims | undefined {
    const ids = this.#ids.verify(token);
    if (ids === undefined) return undefined;
    const [callId = "", orgId = "", agentId = "", vendor = FIRST_VENDOR] = ids;
    return { callId, orgId, agentId, vendor, ...(ids[4] === OWN_ACCOUNT && { ownAccount: true }) };
  }
}
