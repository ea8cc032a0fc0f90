import type { Logger } from "../../engine/log.js";
import { StreamTokens } from "../../engine/security/stream-token.js";
import type { CallCenter } from "../../engine/session/call-center.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import type { Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import type { Edge } from "../http/edge.js";
import { RateLimiter } from "../http/rate-limiter.js";
import type { HttpServer } from "../http/server.js";
import { outboundDoors } from "./outbound-doors.js";
import { PhoneSocket, type PhoneSocketOptions } from "./phone-socket.js";
import { phoneWebhook } from "./phone-webhook.js";
import { dialOn } from "./telephony/twiml.js";
import { VoiceSocket } from "./voice-socket.js";

const MINUTE_MS = 60_000;

export interface VoiceDoorsOptions {
  readonly server: HttpServer;
  readonly edge: Edge;
  readonly tenancy: Tenancy;
  readonly calls: CallCenter;
  readonly voiceConnectionsPerMinute: number;
  readonly publicBaseUrl: string | undefined;
  readonly twilioAuthToken: string | undefined;
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After the last calls were told to end: clients that do not answer a close are not waited for longer. */
const LAST_CLOSES_MAX_MS = 1_000;

/** Opens every way by which a call comes in; the function that it gives shuts them when the calls have ended. */
export function openVoiceDoors(options: VoiceDoorsOptions): () => Promise<void> {
  const { edge, tenancy, calls, clock } = options;
  const { apiKeys, organizations } = tenancy;
  const { opener } = calls;
  const limit = { usesMax: options.voiceConnectionsPerMinute, windowMs: MINUTE_MS };
  const connectionLimiter = new RateLimiter(limit, clock);
  const streamTokens = new StreamTokens({ secret: options.jwtSecret, clock });
  const voice = new VoiceSocket({ ...options, apiKeys, opener, connectionLimiter });
  const audioPool = () => calls.audioPool();
  const { outbound } = calls;
  const shared = { ...options, opener, outbound, streamTokens };
  const phone = new PhoneSocket({ ...shared, organizations, audioPool, transfer: transfer(calls) });
  phone.listen();
  for (const door of outboundDoors(shared)) edge.add(door);
  edge.add(phoneWebhook({ ...options, apiKeys, opener, streamTokens }));
  return async () => {
    await within(clock, LAST_CLOSES_MAX_MS, voice.empty());
    voice.close();
  };
}

/** Undefined where no account of a vendor that can do it is configured. */
function transfer({ twilio }: CallCenter): PhoneSocketOptions["transfer"] {
  if (twilio === undefined) return undefined;
  return async (vendor, callRef, to) => {
    if (vendor !== "twilio") throw new Error("only calls by Twilio can be transferred");
    await twilio.redirect(callRef, dialOn(to));
  };
}
