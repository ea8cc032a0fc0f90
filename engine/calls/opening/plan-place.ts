import { CALLER_LEFT, type Ending } from "../../conversation/call-end.js";
import type { Soon } from "../../time/soon.js";
import type { Conversation } from "../conversations.js";
import type { Slots } from "./call-slots.js";

export interface PlanPlaceSurroundings {
  readonly slots: Pick<Slots, "acquire">;
  /** False where no process has the call, or the one that should have it does not answer. */
  readonly endCall: (callId: string, ending: Ending) => Soon<boolean>;
}

export interface WantedPlace {
  readonly orgId: string;
  readonly callId: string;
  readonly callsMax: number;
  /** A call of the same conversation makes room in any case. */
  readonly isOneConversation?: boolean;
}

const CAME_BACK: Ending = { ...CALLER_LEFT, message: "the caller came back on another connection" };

/**
 * Takes a call's place among those that its plan allows; false where there is none. Where the plan is full, a call of the same
 * conversation that lives makes room: a client whose network has changed is back before its old connection is known to be gone.
 * It is ended first, since nobody finds a call that has no slot.
 */
export async function takePlace(
  { slots, endCall }: PlanPlaceSurroundings,
  { orgId, callId, callsMax, isOneConversation = false }: WantedPlace,
  { replaces, beside }: Pick<Conversation, "replaces" | "beside">,
): Promise<boolean> {
  if (isOneConversation && beside !== undefined && (await endCall(beside, CAME_BACK))) {
    return slots.acquire(orgId, callId, callsMax, beside);
  }
  if (await slots.acquire(orgId, callId, callsMax, replaces)) return true;
  if (beside === undefined || !(await endCall(beside, CAME_BACK))) return false;
  return slots.acquire(orgId, callId, callsMax, beside);
}
