import { RequestError } from "../../engine/request-error.js";
import type { StreamClaims, StreamTokenRegistry } from "../../engine/security/stream-token.js";
import type { StreamUuidRegistry } from "../../engine/security/stream-uuid.js";
import type { MaybePromise } from "../../engine/time/maybe-promise.js";
import { AUDIO_SOCKET } from "./audio-socket-route.js";

export interface StreamOpeningOptions {
  readonly streamTokens: StreamTokenRegistry;
  /** Absent if there is no route for calls that begin with one. */
  readonly streamUuids: StreamUuidRegistry | undefined;
}

/** What a stream of those claims has to begin with: a token, or a UUID if its protocol has nothing else. */
export function streamTokenFor(
  claims: StreamClaims,
  { streamTokens, streamUuids }: StreamOpeningOptions,
): MaybePromise<string> {
  if (claims.vendor !== AUDIO_SOCKET) return streamTokens.mint(claims);
  if (streamUuids !== undefined) return streamUuids.mint(claims);
  throw new RequestError(
    "not_configured",
    "vendor: audiosocket needs the setting AUDIOSOCKET_PORT",
  );
}
