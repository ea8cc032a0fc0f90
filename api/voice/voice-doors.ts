import type { CallCenter } from "../../engine/calls/call-center.js";
import type { OutboundCalls } from "../../engine/calls/outbound-calls.js";
import type { Logger } from "../../engine/log.js";
import { StreamTokens } from "../../engine/security/stream-token.js";
import { StreamUuids } from "../../engine/security/stream-uuid.js";
import type { CallControl } from "../../engine/telephony/call-control.js";
import type { WebhookKeys } from "../../engine/telephony/telephony-settings.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import { type Clock, SystemClock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import type { Edge } from "../http/edge.js";
import { RateLimiter } from "../http/rate-limiter.js";
import type { HttpServer } from "../http/server.js";
import { AudioSocketDoor } from "./audio-socket-door.js";
import { outboundDoors } from "./outbound-doors.js";
import { PhoneCalls } from "./phone-calls.js";
import { PhoneSocket } from "./phone-socket.js";
import { phoneWebhook } from "./phone-webhook.js";
import { VoiceSocket } from "./voice-socket.js";

const MINUTE_MS = 60_000;

export interface VoiceDoorsOptions {
  readonly server: HttpServer;
  readonly edge: Edge;
  readonly tenancy: Tenancy;
  readonly calls: Pick<CallCenter, "opener" | "audioPool">;
  readonly callControl: CallControl;
  readonly outboundCalls: OutboundCalls;
  readonly voiceConnectionsPerMinute: number;
  /** The limit of each API key. */
  readonly requestsPerMinute: number;
  readonly publicBaseUrl: string | undefined;
  /** Where placed calls are answered without a public address; known when the server listens. */
  readonly localBaseUrl: (() => string) | undefined;
  readonly webhookKeys: WebhookKeys;
  readonly optionalWebhookKeys?: Partial<WebhookKeys> | undefined;
  readonly host: string;
  /** 0 = no such door. */
  readonly audioSocketPort: number;
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After the last calls were told to end: callers who are just being refused are not waited for longer. */
const LAST_CLOSES_MAX_MS = 1_000;
/**
 * uWebSockets.js takes a connection for closed once its close is sent. Were the process gone then, what the client is just sending would
 * meet a reset, and break off the connection before the client has read why.
 */
const LAST_WORDS_MS = 500;

/**
 * Opens every way by which a call comes in; the function that it gives shuts them when the calls have ended. Rejects when a
 * port of theirs cannot be had.
 */
export async function openVoiceDoors(options: VoiceDoorsOptions): Promise<() => Promise<void>> {
  const { edge, tenancy, calls, callControl, outboundCalls: outbound, clock } = options;
  const { apiKeys, organizations } = tenancy;
  const network = new SystemClock();
  const { opener } = calls;
  const limit = { usesMax: options.voiceConnectionsPerMinute, windowMs: MINUTE_MS };
  const connectionLimiter = new RateLimiter(limit, clock);
  const streamTokens = new StreamTokens({ secret: options.jwtSecret, clock });
  const voice = new VoiceSocket({ ...options, apiKeys, opener, connectionLimiter });
  const audioPool = () => calls.audioPool();
  const shared = { ...options, opener, outbound, streamTokens };
  const phoneCalls = new PhoneCalls({ ...shared, organizations, callControl, audioPool });
  new PhoneSocket({ ...shared, phoneCalls }).listen();
  const placed = {
    ...shared,
    get publicBaseUrl() {
      return options.publicBaseUrl ?? options.localBaseUrl?.();
    },
  };
  for (const door of outboundDoors(placed)) edge.add(door);
  const hasAudioSocket = options.audioSocketPort > 0;
  const streamUuids = hasAudioSocket ? new StreamUuids(clock) : undefined;
  const requestLimit = { usesMax: options.requestsPerMinute, windowMs: MINUTE_MS };
  const requestLimiter = new RateLimiter(requestLimit, clock);
  edge.add(phoneWebhook({ ...shared, apiKeys, streamUuids, requestLimiter }));
  const port = options.audioSocketPort;
  const audioSocket =
    streamUuids && (await AudioSocketDoor.open({ ...options, port, phoneCalls, streamUuids }));
  return async () => {
    await Promise.all([within(clock, LAST_CLOSES_MAX_MS, voice.empty()), audioSocket?.close()]);
    // The network's time, whatever clock the calls go by.
    if (voice.hasToldOfStop) await new Promise<void>((read) => network.after(LAST_WORDS_MS, read));
    voice.close();
  };
}
