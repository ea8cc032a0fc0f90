import type { AudioPool } from "../../engine/audio/audio-pool.js";
import { Pacer } from "../../engine/audio/pacer.js";
import type { OutboundCalls } from "../../engine/calls/outbound-calls.js";
import type { Logger } from "../../engine/log.js";
import type { StreamClaims } from "../../engine/security/stream-token.js";
import { phoneLine } from "../../engine/session/line-audio.js";
import { OpenRefusal } from "../../engine/session/open-refusal.js";
import type { Session } from "../../engine/session/session.js";
import type { SessionOpener } from "../../engine/session/session-opener.js";
import { CALL_RATE_HZ } from "../../engine/telephony/phone-format.js";
import type { PhoneLegs } from "../../engine/telephony/phone-legs.js";
import type { PhoneWire, StreamStarted } from "../../engine/telephony/phone-wire.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { Clock } from "../../engine/time/clock.js";
import { CLOSE_CODE_BY_REFUSAL, CLOSE_INTERNAL_ERROR, CLOSE_UNAUTHORIZED } from "./close-codes.js";
import { PLACED_CALL_PARAMETER } from "./outbound-doors.js";
import { PhoneLine, type PhoneSocket } from "./phone-line.js";

export interface PhoneCallsOptions {
  readonly organizations: Organizations;
  readonly opener: SessionOpener;
  readonly outbound: Pick<OutboundCalls, "connect">;
  readonly legs: PhoneLegs;
  readonly audioPool: () => AudioPool;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A media stream whose vendor has said what it carries. */
export interface StartedStream {
  readonly vendor: string;
  readonly socket: PhoneSocket;
  readonly wire: PhoneWire;
  readonly started: StreamStarted;
  /** Whom the call is for, as the stream proves it; undefined when it cannot. Asked once. */
  readonly redeem: () => StreamClaims | undefined;
}

/** What the calls of every door for telephones share: who they are for, their lines, one pacer. */
export class PhoneCalls {
  readonly #options: PhoneCallsOptions;
  readonly #pacer: Pacer;

  constructor(options: PhoneCallsOptions) {
    this.#options = options;
    this.#pacer = new Pacer(options.clock, (error) => {
      options.log.error(
        { error },
        "audio could not be sent to a telephone; the call's line is closed",
      );
    });
  }

  /** The line is there at once, and takes what the vendor sends; its session follows, or its close. */
  begin(stream: StartedStream): PhoneLine {
    const { socket, wire, started, vendor } = stream;
    // What the webhook was told, not what the stream says: a customer could name a call of somebody else.
    let callRef = "";
    const line = new PhoneLine(socket, wire, this.#pacer, {
      handOn: (to) => this.#options.legs.transfer(vendor, callRef, to),
      hangUp: () => this.#options.legs.hangUp(vendor, callRef),
    });
    if (started.sampleRateHz !== CALL_RATE_HZ) {
      line.close(CLOSE_INTERNAL_ERROR, "only audio at 8 kHz is taken");
      return line;
    }
    const claims = stream.redeem();
    callRef = claims?.callerRef ?? "";
    void this.#welcome(line, claims, started);
    return line;
  }

  /** Never rejects: whatever goes wrong ends this one call, with its reason. */
  async #welcome(
    line: PhoneLine,
    claims: StreamClaims | undefined,
    started: StreamStarted,
  ): Promise<void> {
    const { outbound, log } = this.#options;
    try {
      const tenant = claims === undefined ? undefined : await this.#tenant(claims.orgId);
      if (claims === undefined || tenant === undefined) {
        return line.close(CLOSE_UNAUTHORIZED, "the stream's token is missing, wrong or used");
      }
      const callId = started.parameters[PLACED_CALL_PARAMETER];
      const open = () => this.#open(line, tenant, claims, callId);
      const session =
        callId === undefined ? await open() : await outbound.connect(callId, claims.orgId, open);
      if (session === undefined) return line.close(CLOSE_UNAUTHORIZED, "the placed call is over");
      line.connect(session);
      if (line.gone.aborted) session.hangUp();
    } catch (error) {
      if (error instanceof OpenRefusal) {
        return line.refuse(CLOSE_CODE_BY_REFUSAL[error.reason], error.message);
      }
      log.error({ error }, "a telephone call could not be opened");
      line.refuse(CLOSE_INTERNAL_ERROR, "internal error");
    }
  }

  #open(
    line: PhoneLine,
    tenant: Tenant,
    { vendor, agentId, callerRef }: StreamClaims,
    placedCallId: string | undefined,
  ): Promise<Session> {
    const { opener, audioPool, legs } = this.#options;
    const request = {
      tenant,
      agentId: agentId === "" ? undefined : agentId,
      historyKey: undefined,
      channel: "phone",
      line: phoneLine(line.encoding, audioPool),
      canTransfer: legs.canTransfer(vendor, callerRef),
      placedCallId,
    } as const;
    return opener.open(request, line, ({ tap }) => line.observe(tap), line.gone);
  }

  async #tenant(orgId: string): Promise<Tenant | undefined> {
    const found = await this.#options.organizations.find(orgId);
    if (found === undefined || found.organization.status !== "active") return undefined;
    return { ...found, userId: undefined, apiKeyId: undefined, scopes: ["voice"] };
  }
}
