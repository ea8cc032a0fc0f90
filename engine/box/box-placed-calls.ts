import type { LiveCall } from "../calls/live-calls.js";
import type { OutboundCalls } from "../calls/outbound/outbound-calls.js";
import type { OutboundReport } from "../calls/outbound/outbound-ending.js";
import type { PlacedCalls } from "../calls/outbound/placed-calls.js";
import type { OutboundClaims, OutboundTokens } from "../security/outbound-token.js";
import type { CallInfo } from "../telephony/call-info.js";
import type { MemberQuestions, OwnerLink, PlacedCallReport } from "./box-questions.js";
import type { BoxSlots } from "./box-slots.js";
import type { Handlers } from "./link.js";

export interface BoxPlacedCallsOptions {
  readonly own: OutboundCalls;
  readonly tokens: OutboundTokens;
  readonly slots: BoxSlots;
  readonly owner: OwnerLink;
}

/** Placed calls of the box: the answer, the stream and the reports of one may each come to another session process. */
export class BoxPlacedCalls implements PlacedCalls {
  readonly #options: BoxPlacedCallsOptions;
  /** Calls that are being handed over to this process: what is told of them waits. */
  readonly #arriving = new Map<string, Promise<unknown>>();

  constructor(options: BoxPlacedCallsOptions) {
    this.#options = options;
  }

  async answering(token: string): Promise<OutboundClaims | undefined> {
    const { own, tokens, owner } = this.#options;
    const claims = tokens.verify(token);
    if (claims === undefined || own.isRinging(claims.callId)) return claims;
    return (await owner.ask("isRinging", claims.callId)) ? claims : undefined;
  }

  async connect<Session extends LiveCall>(
    callId: string,
    orgId: string,
    open: (callInfo: CallInfo | undefined) => Promise<Session>,
  ): Promise<Session | undefined> {
    if (!this.#options.own.isRinging(callId)) await this.#fetch(callId, orgId);
    return this.#options.own.connect(callId, orgId, open);
  }

  async report(token: string, report: OutboundReport): Promise<boolean> {
    const { own, tokens, owner } = this.#options;
    const claims = tokens.verify(token);
    if (claims === undefined) return false;
    const { callId } = claims;
    await this.#arriving.get(callId);
    if (!own.holds(callId) && (await owner.ask("report", { claims, report }))) return true;
    // It may be coming here since.
    await this.#arriving.get(callId);
    own.take(claims, report);
    return true;
  }

  /** What other session processes ask of this one. */
  get handlers(): Pick<Handlers<MemberQuestions>, "isRinging" | "handOver" | "report"> {
    const { own, slots } = this.#options;
    return {
      isRinging: (callId) => own.isRinging(callId),
      handOver: ({ callId, orgId }) => {
        const handed = own.handOver(callId, orgId);
        if (handed !== undefined) slots.forget(callId);
        return handed;
      },
      // At once where nothing is waited for: the next question may be to hand this call over, with what is known of it.
      report: ({ claims, report }: PlacedCallReport) => {
        const arrival = this.#arriving.get(claims.callId);
        if (arrival !== undefined) return arrival.then(() => own.take(claims, report));
        return own.take(claims, report);
      },
    };
  }

  async #fetch(callId: string, orgId: string): Promise<void> {
    // Two streams of one call: the second finds it gone, here as elsewhere.
    if (this.#arriving.has(callId)) return;
    const arrival = this.#adopt(callId, orgId);
    this.#arriving.set(
      callId,
      arrival.catch(() => undefined),
    );
    try {
      await arrival;
    } finally {
      this.#arriving.delete(callId);
    }
  }

  async #adopt(callId: string, orgId: string): Promise<void> {
    const { own, slots, owner } = this.#options;
    const handed = await owner.ask("handOver", { callId, orgId });
    if (handed === undefined) return;
    slots.adopt(orgId, callId);
    own.adopt(handed);
  }
}
