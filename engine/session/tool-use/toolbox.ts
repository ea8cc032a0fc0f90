import type { ToolCall, ToolDefinition } from "../../vendors/contracts.js";
import type { CallerChannel } from "../playback/caller-channel.js";

export interface ToolOutcome {
  /** What the model is told. */
  readonly content: string;
  /** Said to the caller as it is, instead of being given to the model. */
  readonly spoken?: string | undefined;
}

/** What an agent's model may have done during a call. */
export interface Toolbox {
  readonly definitions: readonly ToolDefinition[];
  /** What services are shown to let the agent in. An answer that repeats it is kept without it. */
  readonly secrets?: readonly string[];
  /** Does it and says what came of it. Rejects only when aborted. */
  run(call: ToolCall, caller: CallerChannel, signal: AbortSignal): Promise<ToolOutcome>;
}

export const EMPTY_TOOLBOX: Toolbox = {
  definitions: [],
  run: () => Promise.resolve({ content: "There is no such tool." }),
};
