import { type TwilioCalls, twilioCalls } from "../../telephony/twilio/twilio-calls.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";

/** Where the vendor asks what to do with a placed call that was answered. */
export const ANSWER_PATH = "/api/telephony/answer";
/** Where the vendor tells what became of it. */
export const STATUS_PATH = "/api/telephony/status";

export interface OutboundOrder {
  readonly agentId: string;
  /** E.164. */
  readonly to: string;
  /** E.164. */
  readonly from: string;
  /** Hangs up on answering machines. */
  readonly detectMachine: boolean;
}

export interface QueuedCall {
  /** The id and `sessionId` of the call record that is written once the call is answered or has failed. */
  readonly id: string;
  readonly agentId: string;
  readonly status: "queued";
}

export interface OutboundSettings {
  readonly twilio: {
    readonly accountSid: string | undefined;
    readonly authToken: string | undefined;
    readonly baseUrl: string;
  };
  readonly publicBaseUrl: string | undefined;
  /** Where a vendor on this machine reaches the server, once it listens; undefined where the vendor is somewhere else. */
  readonly localBaseUrl?: (() => string) | undefined;
}

/** The settings without which no call can be placed, by their names. */
export function missingSettings({ twilio, publicBaseUrl }: OutboundSettings): readonly string[] {
  const needed = {
    TWILIO_ACCOUNT_SID: twilio.accountSid,
    TWILIO_AUTH_TOKEN: twilio.authToken,
    PUBLIC_BASE_URL: publicBaseUrl,
  };
  return Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []));
}

/** Undefined while a setting is missing. */
export function outboundTelephony(
  settings: OutboundSettings,
  context: VendorContext,
): OutboundTelephony | undefined {
  const calls = twilioCalls(settings, context);
  const { publicBaseUrl, localBaseUrl } = settings;
  const baseUrl = publicBaseUrl === undefined ? localBaseUrl : () => publicBaseUrl;
  if (calls === undefined || baseUrl === undefined) return undefined;
  return new OutboundTelephony(calls, baseUrl);
}

/** What is asked of the vendor's account here. */
type PlacingCalls = Pick<TwilioCalls, "place" | "hangUp">;

/** The vendor's account together with the addresses of ours that it is given. */
export class OutboundTelephony {
  readonly #calls: PlacingCalls;
  readonly #baseUrl: () => string;

  /** `baseUrl`: of this server as the vendor reaches it, asked with every call. */
  constructor(calls: PlacingCalls, baseUrl: () => string) {
    this.#calls = calls;
    this.#baseUrl = baseUrl;
  }

  /** Resolves with the vendor's id of the call. Rejects with a VendorError. */
  place(
    { to, from, detectMachine }: OutboundOrder,
    token: string,
    { ringTimeoutSec }: { readonly ringTimeoutSec: number },
  ): Promise<string> {
    const base = this.#baseUrl().replace(/\/$/, "");
    return this.#calls.place({
      to,
      from,
      detectMachine,
      ringTimeoutSec,
      answerUrl: `${base}${ANSWER_PATH}?token=${token}`,
      statusUrl: `${base}${STATUS_PATH}?token=${token}`,
    });
  }

  /** A call that still rings. */
  hangUp(callRef: string): Promise<void> {
    return this.#calls.hangUp(callRef, "ringing");
  }
}
