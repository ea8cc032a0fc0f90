import type { CallSupervision } from "../../engine/calls/call-supervision.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { CallEventStreams } from "./call-event-streams.js";

/** What people see of calls in progress, and how they end them. */
export function supervisionRoutes(
  supervision: Pick<CallSupervision, "watchAll" | "watchOne" | "end">,
): Handlers<"watchCalls" | "watchCall" | "endCall"> {
  const streams = new CallEventStreams();
  return {
    watchCalls: ({ tenant }) => streams.of(supervision.watchAll(tenant)),
    watchCall: async ({ tenant, id }) => streams.of(await supervision.watchOne(tenant, id)),
    endCall: async ({ tenant, id }) => {
      await supervision.end(tenant, id);
      return { success: true };
    },
  };
}
