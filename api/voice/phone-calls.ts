import { PCM_16K, PHONE_RATE_HZ } from "../../engine/audio/audio-format.js";
import type { AudioPool } from "../../engine/audio/audio-pool.js";
import { Pacer } from "../../engine/audio/pacer.js";
import type { CallOpener, OpenRequest } from "../../engine/calls/call-opener.js";
import { callRefusedErrorOf } from "../../engine/calls/call-refused-error.js";
import {
  type Continuations,
  continuationUrl,
  placedCallOf,
} from "../../engine/calls/continuations.js";
import {
  CallNotAcceptedError,
  type MachineDetection,
  type PlacedCalls,
} from "../../engine/calls/outbound/placed-calls.js";
import {
  FAILED_TOO_OFTEN,
  NO_PUBLIC_ADDRESS,
  NO_TRANSFER,
  type WarmTransfers,
} from "../../engine/calls/warm-transfers.js";
import type { LiveConversation } from "../../engine/conversation/actor.js";
import { unsupportedAudio } from "../../engine/conversation/call-end.js";
import type { TransferAnswer } from "../../engine/conversation/caller-channel.js";
import { phoneAudio } from "../../engine/conversation/leg-audio.js";
import type { Logger } from "../../engine/log.js";
import type { StreamClaims } from "../../engine/security/stream-token.js";
import type { CallControl } from "../../engine/telephony/call-control.js";
import type { BestEffortCallInfos, CallInfo } from "../../engine/telephony/call-info.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import type { PhoneWire, StreamIds, StreamStarted } from "../../engine/telephony/phone-wire.js";
import { TRANSFER_RING_SEC } from "../../engine/telephony/transfer-report.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { Clock } from "../../engine/time/clock.js";
import type { MaybePromise } from "../../engine/time/maybe-promise.js";
import {
  CLOSE_CODE_BY_ENDING,
  CLOSE_CODE_BY_REFUSAL,
  CLOSE_INTERNAL_ERROR,
  CLOSE_UNAUTHORIZED,
  closeReason,
} from "./close-codes.js";
import { PLACED_CALL_PARAMETER } from "./outbound-routes.js";
import { type LegSocket, PhoneLeg } from "./phone-leg.js";
import { phoneTenant } from "./phone-tenant.js";

export interface PhoneCallsOptions {
  readonly organizations: Pick<Organizations, "find">;
  readonly opener: Pick<CallOpener, "open" | "recordUnsupported">;
  readonly outbound: Pick<PlacedCalls, "connect">;
  readonly callControl: Pick<CallControl, "canTransfer" | "transfer" | "hangUp">;
  readonly continuations: Pick<
    Continuations,
    "conversationOf" | "mayGoOn" | "mayTransfer" | "transferTokenFor" | "stored"
  >;
  readonly warmTransfers: Pick<WarmTransfers, "refusalOf" | "start" | "refuse">;
  readonly callInfos: Pick<BestEffortCallInfos, "find">;
  /** `https://host` of this server as vendors reach it; undefined if only their requests contain it. */
  readonly baseUrl: () => string | undefined;
  readonly audioPool: () => AudioPool;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A vendor whose stream broke requests the next step immediately. */
const WEBHOOK_EXPECTED_MS = 2_000;

/** A media stream whose vendor has sent its format. */
export interface StartedStream {
  readonly vendor: string;
  readonly socket: LegSocket;
  readonly wire: PhoneWire;
  readonly started: StreamStarted;
  /** The claims that the stream's token proves; undefined if it is invalid. Called once. */
  readonly redeem: () => MaybePromise<StreamClaims | undefined>;
}

/** Whether the vendor's REST API transfers the call; otherwise the document after its stream does. */
export async function transfersByRest(
  claims: StreamClaims,
  { callControl, baseUrl }: Pick<PhoneCallsOptions, "callControl" | "baseUrl">,
): Promise<boolean> {
  return baseUrl() !== undefined && (await callControl.canTransfer(claims, claims.callerRef));
}

/** Telephone calls are tested at these rates, narrowband and wideband. */
const RATES_HZ: ReadonlySet<number> = new Set([PHONE_RATE_HZ, PCM_16K.sampleRateHz]);

/** A format whose rate is not supported; undefined for a supported one. */
export function refusedFormat({ encoding, sampleRateHz }: StreamStarted): string | undefined {
  return RATES_HZ.has(sampleRateHz) ? undefined : `${encoding} at ${sampleRateHz} Hz`;
}

/** The placed call that waits for the stream; a dialplan passes on no parameter for it. */
function waitingCallOf(
  { vendor, callKey, attempt }: StreamClaims,
  parameters: StreamIds["parameters"],
): string | undefined {
  const isFirst = attempt === 0 && phoneVendor(vendor)?.namesNextOnRequest === true;
  const isAwaited = isFirst || parameters[PLACED_CALL_PARAMETER] !== undefined;
  return isAwaited ? placedCallOf(callKey) : undefined;
}

interface TransferTarget {
  readonly to: string;
  /** What the person of a warm transfer hears; undefined for a blind one. */
  readonly briefing: string | undefined;
  readonly neverBlind: true | undefined;
}

/** The shared part of calls from all telephone routes: their tenants, their legs, one pacer. */
export class PhoneCalls {
  readonly #options: PhoneCallsOptions;
  readonly #pacer: Pacer;
  readonly #legs = new Set<PhoneLeg>();
  #brokeAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PhoneCallsOptions) {
    this.#options = options;
    this.#pacer = new Pacer(options.clock, (error) => {
      options.log.error({ error }, "failed to send audio to a telephone; closing the call's leg");
    });
  }

  /** Whether a stream has just broken, so that its vendor may be about to send a request. */
  get isWebhookExpected(): boolean {
    return this.#options.clock.monotonicMs() - this.#brokeAtMs < WEBHOOK_EXPECTED_MS;
  }

  /** Resolves when every current leg is gone: after its call, a leg waits until its caller has heard the last words. */
  async empty(): Promise<void> {
    const gone = [...this.#legs].map(
      ({ closed: gone }) =>
        new Promise((resolve) => {
          gone.addEventListener("abort", resolve, { once: true });
        }),
    );
    await Promise.all(gone);
  }

  /** The leg exists immediately, and accepts the vendor's audio; its conversation follows, or its close. */
  startLeg(stream: StartedStream): PhoneLeg {
    const { socket, wire, started, vendor } = stream;
    // The webhook's data, not the stream's: a customer could name another customer's call.
    let claims: StreamClaims | undefined;
    const { callControl, clock } = this.#options;
    const timing = { pacer: this.#pacer, clock };
    const leg = new PhoneLeg(socket, wire, timing, {
      transfer: (to, briefing, neverBlind) => this.#transfer(claims, { to, briefing, neverBlind }),
      hangUp: () => callControl.hangUp(claims ?? { vendor, orgId: "" }, claims?.callerRef ?? ""),
    });
    this.#legs.add(leg);
    const onGone = () => {
      this.#legs.delete(leg);
      if (leg.isClaimed) this.#brokeAtMs = clock.monotonicMs();
    };
    leg.closed.addEventListener("abort", onGone, { once: true });
    const redeem = async () => {
      claims = await stream.redeem();
      if (claims !== undefined && this.#options.continuations.mayGoOn(claims))
        leg.reconnectWhenBroken();
      return claims;
    };
    void this.#welcome(leg, redeem, started);
    return leg;
  }

  /** Ends the call immediately; its record, the log and its caller get the reason. */
  refuseFormat(
    stream: Pick<StartedStream, "vendor" | "socket" | "wire" | "redeem">,
    offered: StreamIds & { readonly format: string },
  ): void {
    void this.#refuseFormat(stream, offered);
  }

  async #refuseFormat(
    { vendor, socket, wire, redeem }: Pick<StartedStream, "vendor" | "socket" | "wire" | "redeem">,
    { format, parameters }: StreamIds & { readonly format: string },
  ): Promise<void> {
    const { organizations, opener, outbound, continuations, callControl, log } = this.#options;
    const { message } = unsupportedAudio(format);
    try {
      const claims = await redeem();
      const orgId = claims?.orgId;
      log.warn(
        { vendor, orgId, format },
        "a media stream was refused: its audio format is not supported",
      );
      const tenant = claims && (await phoneTenant(organizations, claims.orgId));
      if (claims === undefined || tenant === undefined) return;
      const placedCallId = waitingCallOf(claims, parameters);
      const conversation = continuations.conversationOf(claims);
      const agentId = claims.agentId === "" ? undefined : claims.agentId;
      const refuse = () => Promise.reject(new CallNotAcceptedError(unsupportedAudio(format)));
      if (placedCallId === undefined) {
        const callInfo = await this.#callInfoOf(claims, undefined);
        await opener.recordUnsupported({ tenant, agentId, conversation, callInfo }, format);
      } else {
        await outbound.connect(placedCallId, claims.orgId, refuse).catch(() => undefined);
      }
      // The vendor requests the next step as soon as the stream is closed, and the response depends
      // on the record.
      await continuations.stored();
      const isAsking = continuations.mayGoOn(claims);
      if (!isAsking && !wire.closingHangsUp) await callControl.hangUp(claims, claims.callerRef);
    } catch (error) {
      log.error({ error }, "a call with an unsupported audio format could not be recorded");
    } finally {
      socket.end(CLOSE_CODE_BY_ENDING.unsupportedAudio, closeReason(message));
    }
  }

  /** Never rejects: an error ends this one call, with its reason. */
  async #welcome(
    leg: PhoneLeg,
    redeem: () => Promise<StreamClaims | undefined>,
    started: StreamStarted,
  ): Promise<void> {
    const { outbound, log } = this.#options;
    let orgId: string | undefined;
    try {
      const claims = await redeem();
      orgId = claims?.orgId;
      const tenant =
        claims === undefined
          ? undefined
          : await phoneTenant(this.#options.organizations, claims.orgId);
      if (claims === undefined || tenant === undefined) {
        return leg.close(CLOSE_UNAUTHORIZED, "the stream's token is missing, wrong or used");
      }
      const callId = waitingCallOf(claims, started.parameters);
      const open = async (placed?: CallInfo, detection?: MachineDetection) => {
        const callInfo = await this.#callInfoOf(claims, placed);
        return this.#open(leg, tenant, claims, { callInfo, placedCallId: callId, detection });
      };
      const session =
        callId === undefined ? await open() : await outbound.connect(callId, claims.orgId, open);
      if (session === undefined) return leg.close(CLOSE_UNAUTHORIZED, "the placed call is over");
      leg.connect(session);
      if (leg.closed.aborted) session.hangUp();
    } catch (error) {
      const refusal = callRefusedErrorOf(error);
      if (refusal !== undefined) {
        const { reason, message: detail, callerWords } = refusal;
        log.info({ orgId, reason, detail }, "a telephone call was refused");
        return leg.refuse(CLOSE_CODE_BY_REFUSAL[reason], callerWords);
      }
      log.error({ error }, "a telephone call could not be opened");
      leg.refuse(CLOSE_INTERNAL_ERROR, "internal error");
    }
  }

  async #open(
    leg: PhoneLeg,
    tenant: Tenant,
    claims: StreamClaims,
    placed: Pick<OpenRequest, "callInfo" | "placedCallId" | "detection">,
  ): Promise<LiveConversation> {
    const { agentId } = claims;
    const { opener, audioPool, continuations } = this.#options;
    const request = {
      tenant,
      agentId: agentId === "" ? undefined : agentId,
      historyKey: undefined,
      conversation: continuations.conversationOf(claims),
      channel: "phone",
      audio: phoneAudio(leg.inbound, () => audioPool().of(tenant.organization.id), leg.outbound),
      canTransfer: await this.#canTransfer(claims),
      ...placed,
    } as const;
    return opener.open(request, leg, ({ tap }) => leg.observe(tap), leg.closed);
  }

  /**
   * Vendor and id are those of the signed claims; `placed`: the called number of an outbound call. For a call that
   * continues after a break, the record of the call before it has more data, and is used instead.
   */
  async #callInfoOf(claims: StreamClaims, placed: CallInfo | undefined): Promise<CallInfo> {
    const { vendor: phoneVendor, callerRef: phoneCallId, callKey } = claims;
    const direction = placedCallOf(callKey) === undefined ? "inbound" : "outbound";
    const kept = placed ?? (await this.#options.callInfos.find(claims)) ?? { direction };
    return { ...kept, phoneVendor, ...(phoneCallId !== "" && { phoneCallId }) };
  }

  async #canTransfer(claims: StreamClaims): Promise<boolean> {
    const { continuations } = this.#options;
    if (!continuations.mayTransfer(claims)) return false;
    if (await transfersByRest(claims, this.#options)) return true;
    const { documents, namesNextOnRequest } = phoneVendor(claims.vendor) ?? {};
    const isFollowed = namesNextOnRequest !== true || claims.dialsTransfers === true;
    return documents?.dial !== undefined && isFollowed && continuations.mayGoOn(claims);
  }

  /**
   * If the vendor's REST API cannot transfer, the document after the stream dials: the vendor requests it when the
   * stream is closed. Never rejects: a failure counts as a refusal.
   */
  async #transfer(
    claims: StreamClaims | undefined,
    target: TransferTarget,
  ): Promise<TransferAnswer> {
    try {
      return await this.#tryTransfer(claims, target);
    } catch (error) {
      const { vendor, orgId } = claims ?? {};
      this.#options.log.error({ vendor, orgId, error }, "failed to transfer a call");
      return false;
    }
  }

  async #tryTransfer(
    claims: StreamClaims | undefined,
    { to, briefing: summary, neverBlind }: TransferTarget,
  ): Promise<TransferAnswer> {
    const { baseUrl, warmTransfers, continuations } = this.#options;
    const base = baseUrl();
    if (claims === undefined) return false;
    // Members of the organization can order a transfer that the agent was not offered.
    if (!(await this.#canTransfer(claims))) {
      if (summary !== undefined && neverBlind === true) {
        const reason = continuations.mayTransfer(claims) ? NO_TRANSFER : FAILED_TOO_OFTEN;
        await warmTransfers.refuse(claims, { to, summary }, reason);
      }
      return false;
    }
    if (summary === undefined) return this.#transferBlindly(claims, to, base);
    const refusal = base === undefined ? NO_PUBLIC_ADDRESS : await warmTransfers.refusalOf(claims);
    if (base !== undefined && refusal === undefined)
      return warmTransfers.start(claims, { to, summary, base, neverBlind });
    if (neverBlind === true) {
      await warmTransfers.refuse(claims, { to, summary }, refusal ?? NO_PUBLIC_ADDRESS);
      return false;
    }
    return (await this.#transferBlindly(claims, to, base)) && "blind";
  }

  async #transferBlindly(
    claims: StreamClaims,
    to: string,
    base: string | undefined,
  ): Promise<boolean> {
    const { callControl, continuations } = this.#options;
    if (base === undefined || !(await transfersByRest(claims, this.#options))) {
      return phoneVendor(claims.vendor)?.documents.mayDial?.(to) ?? true;
    }
    const resultUrl = continuationUrl(base, continuations.transferTokenFor(claims));
    const dial = { to, ringSec: TRANSFER_RING_SEC, resultUrl };
    return callControl.transfer(claims, claims.callerRef, dial);
  }
}
