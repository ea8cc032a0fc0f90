import type { CallStore } from "../../storage/calls/call-store.js";
import type { CallRecord } from "../../storage/records.js";
import { SignedIds } from "../security/signed-ids.js";
import type { StreamClaims } from "../security/stream-token.js";
import { CALLER_LEFT } from "../session/ending.js";
import type { Clock } from "../time/clock.js";
import { isBrokenOff, onceEnded } from "./broken-call.js";
import type { CallJournal } from "./call-journal.js";
import type { LiveCalls } from "./live-calls.js";

/** Telephony vendors end calls after 24 hours. */
const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1_000;
const KEY_LABEL = "parley: continued call, version 1";
/** A call that breaks again and again is over. */
const CONTINUATIONS_MAX = 3;

/** The conversation that a telephone call has, under ids that follow from the call's key. */
export interface PhoneConversation {
  readonly sessionId: string;
  readonly historyKey: string;
  /** The sessions before this one, which broke, the last one first; what died before it was stored has no record. */
  readonly before: readonly string[];
}

/**
 * `askedAgain`: of the stream there is no record, since it reached nobody, or a process that died before the call began, or it
 * was refused.
 */
export type NextStream =
  | { readonly kind: "goesOn" | "askedAgain"; readonly claims: StreamClaims }
  | { readonly kind: "over"; readonly claims?: undefined };

export interface ContinuationsOptions {
  readonly secret: string;
  readonly clock: Clock;
  readonly calls: Pick<CallStore, "findBySession">;
  readonly liveCalls: Pick<LiveCalls, "find">;
  readonly journal: Pick<CallJournal, "stored">;
}

/**
 * A telephone call outlives its stream: where the vendor asks what comes next, a caller whose stream broke gets another, in
 * the same conversation. The ids of its sessions follow from the call's key, so that any server of this database can tell.
 */
export class Continuations {
  readonly #options: ContinuationsOptions;
  readonly #ids: SignedIds;

  constructor(options: ContinuationsOptions) {
    const { secret, clock } = options;
    this.#options = options;
    const lifetimeMs = TOKEN_LIFETIME_MS;
    this.#ids = new SignedIds({ secret, label: KEY_LABEL, lifetimeMs, clock });
  }

  /** False for a call that broke too often. */
  mayGoOn({ attempt }: StreamClaims): boolean {
    return attempt < CONTINUATIONS_MAX;
  }

  /** What the vendor asks with when the stream has ended; undefined for a call that may not go on. */
  tokenFor(claims: StreamClaims): string | undefined {
    if (!this.mayGoOn(claims)) return undefined;
    const { vendor, orgId, agentId, callerRef, callKey, attempt } = claims;
    return this.#ids.mint([vendor, orgId, agentId, callerRef, callKey, String(attempt)]);
  }

  conversationOf({ callKey, attempt }: StreamClaims): PhoneConversation {
    const sessions = Array.from({ length: attempt }, (_, n) => this.#sessionId(callKey, n));
    return {
      sessionId: this.#sessionId(callKey, attempt),
      historyKey: this.#ids.uuidOf([callKey]),
      before: sessions.reverse(),
    };
  }

  /** Whose stream it was; undefined for a token that is not good. */
  claimsOf(token: string): StreamClaims | undefined {
    const ids = this.#ids.verify(token);
    if (ids === undefined) return undefined;
    const [vendor = "", orgId = "", agentId = "", callerRef = "", callKey = "", attempt = ""] = ids;
    return { vendor, orgId, agentId, callerRef, callKey, attempt: Number(attempt) };
  }

  /** What comes after a stream whose caller is still there. */
  async next(claims: StreamClaims): Promise<NextStream> {
    const call = await this.#settled(claims);
    const next = { ...claims, attempt: claims.attempt + 1 };
    if (call === undefined) return { kind: "askedAgain", claims: next };
    return isBrokenOff(call) ? { kind: "goesOn", claims: next } : { kind: "over" };
  }

  /** The call, once its end is stored; one that still lives has lost its stream without noticing. */
  async #settled({ orgId, callKey, attempt }: StreamClaims): Promise<CallRecord | undefined> {
    const { calls, liveCalls, journal, clock } = this.#options;
    const find = () => calls.findBySession(orgId, this.#sessionId(callKey, attempt));
    const call = await find();
    if (call?.status !== "active") return call;
    liveCalls.find(call.id)?.end(CALLER_LEFT);
    return onceEnded(find, journal, clock);
  }

  #sessionId(callKey: string, attempt: number): string {
    return this.#ids.uuidOf([callKey, String(attempt)]);
  }
}
