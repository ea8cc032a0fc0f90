import * as v from "valibot";
import type { AuditStore } from "../../storage/tenancy/audit-store.js";
import { encodeMulaw } from "../audio/mulaw.js";
import type { CallAudioTap } from "../conversation/actor.js";
import type { Logger } from "../log.js";
import { RequestError } from "../request-error.js";
import { SignedText } from "../security/signed-text.js";
import { TOO_MANY_TOKENS, type TokenUseRegistry } from "../security/token-uses.js";
import { actorOf, auditEntry } from "../tenancy/audit-entry.js";
import { type ActiveCredentials, whileActive } from "../tenancy/people/active-credentials.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { audioTopic } from "./call-events.js";
import type { CallFeed } from "./call-feed.js";
import type { CallSupervision } from "./call-supervision.js";
import type { RecordingTiming } from "./recording/recording.js";
import { type RecordedFormat, Recording, type RecordingDeps } from "./recording/recording.js";
import type { Watcher } from "./topic-subscribers.js";

/** Those who listen hear a call this much later, so that audio which the network has held back finds its place. */
const LISTENING_TIMING: RecordingTiming = {
  flushMs: 100,
  placementMs: 100,
  holdMs: 300,
  stallHoldMs: 1_000,
  blockMaxMs: 200,
};
const PIECE_MS = 100;
/** One event: its text fits into a message between servers, whatever the rate. */
const PIECE_SAMPLES_MAX = 2_400;
const CHANNELS = 2;

export interface ListenedCallOptions {
  readonly orgId: string;
  readonly callId: string;
  readonly format: RecordedFormat;
  readonly feed: Pick<CallFeed, "hasWatchers" | "publishAudio">;
  readonly recording: Pick<RecordingDeps, "clock" | "decodeMp3" | "openConversion">;
  readonly log: Pick<Logger, "warn">;
}

/** Publishes the audio of a call to listeners, the caller left, the agent right. Without listeners, a frame costs one check. */
export class ListenedCall implements CallAudioTap {
  readonly #options: ListenedCallOptions;
  readonly #topic: string;
  #mix: Recording | undefined;

  constructor(options: ListenedCallOptions) {
    this.#options = options;
    this.#topic = audioTopic(options.orgId, options.callId);
  }

  caller(audio: Uint8Array): void {
    this.#current()?.caller(audio);
  }

  agent(audio: Uint8Array): void {
    this.#current()?.agent(audio);
  }

  agentCut(): void {
    this.#mix?.agentCut();
  }

  end(): void {
    this.#stop();
    if (this.#options.feed.hasWatchers(this.#topic)) this.#publish("", true);
  }

  #current(): Recording | undefined {
    if (this.#options.feed.hasWatchers(this.#topic)) return (this.#mix ??= this.#start());
    if (this.#mix !== undefined) this.#stop();
    return undefined;
  }

  #stop(): void {
    const mix = this.#mix;
    this.#mix = undefined;
    mix?.end();
  }

  #start(): Recording {
    const { format, recording, callId, log } = this.#options;
    const mix = new Recording(
      format,
      { write: (block) => this.#write(block) },
      {
        ...recording,
        onBroken: (reason) => {
          log.warn({ callId, reason }, "the sound for those who listen in starts anew");
          if (this.#mix === mix) this.#mix = undefined;
        },
        onSentenceDropped: (error) => {
          log.warn({ callId, error }, "those who listen in miss a sentence");
        },
        onComplete: () => undefined,
      },
      LISTENING_TIMING,
    );
    return mix;
  }

  #write(block: Uint8Array): boolean {
    const samples = new Int16Array(block.buffer, block.byteOffset, block.byteLength / 2);
    const encoded = encodeMulaw(samples);
    const pieceSamples = Math.floor((PIECE_MS * this.#options.format.input.sampleRateHz) / 1_000);
    const pieceBytes = CHANNELS * Math.min(pieceSamples, PIECE_SAMPLES_MAX);
    for (let at = 0; at < encoded.byteLength; at += pieceBytes) {
      this.#publish(Buffer.from(encoded.subarray(at, at + pieceBytes)).toString("base64"), false);
    }
    return true;
  }

  #publish(audio: string, isLast: boolean): void {
    const { feed, callId, format } = this.#options;
    const { sampleRateHz } = format.input;
    feed.publishAudio(this.#topic, { type: "audio", callId, sampleRateHz, audio, isLast });
  }
}

/** Several that hear the same call. */
export function tapsTogether(taps: readonly CallAudioTap[]): CallAudioTap {
  return {
    caller: (audio) => {
      for (const tap of taps) tap.caller(audio);
    },
    agent: (audio) => {
      for (const tap of taps) tap.agent(audio);
    },
    agentCut: () => {
      for (const tap of taps) tap.agentCut();
    },
    end: () => {
      for (const tap of taps) tap.end();
    },
  };
}

/** A page opens the stream at once. */
const TOKEN_LIFETIME_MS = 30_000;
/** Who listens for longer asks again. */
const LISTEN_MAX_MS = 60 * 60_000;
const TOKEN_CHARACTERS_MAX = 1_000;

const Claims = v.object({
  orgId: v.string(),
  callId: v.string(),
  userId: v.optional(v.string()),
  apiKeyId: v.optional(v.string()),
  nonce: v.string(),
  expiresAtMs: v.number(),
});

export interface CallListeningOptions {
  readonly supervision: Pick<CallSupervision, "findLive">;
  readonly feed: Pick<CallFeed, "requireRoom" | "watch">;
  readonly audit: Pick<AuditStore, "add">;
  readonly standing: Pick<ActiveCredentials, "areActive">;
  readonly tokenUses: Pick<TokenUseRegistry, "take">;
  readonly secret: string;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Who may listen in, and to what. */
export class CallListening {
  readonly #options: CallListeningOptions;
  readonly #signed: SignedText;

  constructor(options: CallListeningOptions) {
    this.#options = options;
    const label = "parley: listening to a call, version 1";
    this.#signed = new SignedText(options.secret, label, TOKEN_CHARACTERS_MAX);
  }

  /**
   * A token for one stream of the call's sound. Who asked for it stands in the audit trail. RequestErrors `not_found`,
   * `call_ended`, and `concurrency_limit_reached`.
   */
  async admit(
    tenant: Tenant,
    id: string,
  ): Promise<{ readonly token: string; readonly expiresAtMs: number }> {
    const { supervision, feed, audit, clock, newId } = this.#options;
    const { callId } = await supervision.findLive(tenant, id);
    const { organization, userId, apiKeyId } = tenant;
    const orgId = organization.id;
    feed.requireRoom(orgId);
    const atMs = clock.epochMs();
    await audit.add(
      auditEntry({
        id: newId(),
        atMs,
        actor: actorOf(tenant),
        action: "call.listen",
        target: { type: "call", id: callId, orgId, name: callId },
      }),
    );
    const expiresAtMs = atMs + TOKEN_LIFETIME_MS;
    const who = userId === undefined ? { apiKeyId } : { userId };
    const token = this.#signed.sign({ orgId, callId, ...who, nonce: newId(), expiresAtMs });
    return { token, expiresAtMs };
  }

  /**
   * Resolves when the stream is over. RequestErrors `invalid_token`, also of one whose key or admin is none any more, and, where it may
   * be tried again with the same token, `concurrency_limit_reached` and `overloaded`.
   */
  async listen(token: string, watcher: Watcher, signal: AbortSignal): Promise<void> {
    const { feed, tokenUses, clock, standing } = this.#options;
    const read = v.safeParse(Claims, this.#signed.read(token));
    if (!read.success) throw new RequestError("invalid_token", "token: wrong");
    const { orgId, callId, userId, apiKeyId, nonce, expiresAtMs } = read.output;
    if (expiresAtMs <= clock.epochMs()) throw new RequestError("invalid_token", "token: expired");
    // A token is not used up by a stream that finds no room.
    feed.requireRoom(orgId);
    const refusal = await tokenUses.take({ nonce, expiresAtMs }, undefined);
    if (refusal === TOO_MANY_TOKENS) throw new RequestError("overloaded", TOO_MANY_TOKENS);
    if (refusal !== undefined) throw new RequestError("invalid_token", "token: it was used");
    const watched = { orgId, callId, isAudio: true, maxMs: LISTEN_MAX_MS };
    const listener = { orgId, userId, apiKeyId, asAdmin: true };
    await whileActive(this.#options, listener, signal, (until) =>
      feed.watch(watched, watcher, until),
    );
    if (signal.aborted || (await standing.areActive(listener).catch(() => true))) return;
    throw new RequestError("invalid_token", "token: its key or user may not listen any more");
  }
}
