import type { Ending } from "../conversation/call-end.js";
import type { BreakerExchange } from "../vendors/chain/breakers.js";
import type { Slots } from "./admission.js";
import type { CallEventBus } from "./call-events.js";

/** What this process shares with others that have calls of their own. */
export interface Cluster {
  readonly slots: Slots;
  /** The number of calls in all processes. */
  readonly callCount: number;
  readonly events: CallEventBus;
  readonly breakers: BreakerExchange;
  /** Whether another process accepts calls. */
  readonly othersAccept: boolean;
  /** An operator has stopped new calls on this server. */
  readonly isDrained: boolean;
  /** Whether another process, of this server or of another, has the call; false if that process does not answer. */
  hasCall(callId: string): Promise<boolean>;
  /** False if no other process has the call, or the process that should have it does not answer. */
  endCall(callId: string, ending: Ending): Promise<boolean>;
}
