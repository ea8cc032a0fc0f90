import type { LimitName } from "../../engine/cluster/ipc-messages.js";
import type { Clock } from "../../engine/time/clock.js";
import { RateLimiter } from "../http/request/rate-limiter.js";

const MINUTE_MS = 60_000;

export interface LimitSettings {
  readonly authRequestsPerMinute: number;
  readonly requestsPerMinute: number;
  readonly vendorRequestsPerMinute: number;
  readonly voiceConnectionsPerMinute: number;
}

/** Each limit's uses per minute and key. */
export function usesPerMinute(settings: LimitSettings): Readonly<Record<LimitName, number>> {
  return {
    auth: settings.authRequestsPerMinute,
    general: settings.requestsPerMinute,
    vendor: settings.vendorRequestsPerMinute,
    voice: settings.voiceConnectionsPerMinute,
    webhook: settings.requestsPerMinute,
  };
}

/** Counts the uses of a whole server; each of `serverCount()` servers allows its share. */
export function sharedLimits(
  settings: LimitSettings,
  clock: Clock,
  serverCount: () => number = () => 1,
): Readonly<Record<LimitName, RateLimiter>> {
  const uses = usesPerMinute(settings);
  const limiter = (name: LimitName) => {
    const limit = {
      get usesMax() {
        return Math.ceil(uses[name] / serverCount());
      },
      windowMs: MINUTE_MS,
    };
    return new RateLimiter(limit, clock);
  };
  return {
    auth: limiter("auth"),
    general: limiter("general"),
    vendor: limiter("vendor"),
    voice: limiter("voice"),
    webhook: limiter("webhook"),
  };
}
