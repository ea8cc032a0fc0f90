import type { Recordings } from "../../engine/calls/recording/recordings.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";

export function recordingRoutes(
  recordings: Pick<Recordings, "open">,
): Handlers<"getCallRecording"> {
  return {
    getCallRecording: ({ tenant, id }) =>
      recordings.open({ orgId: tenant.organization.id, callId: id }),
  };
}
