import type { ToolUse } from "../model/tool-uses.js";
import { waitWords } from "./durations.js";

/** What came of a tool, behind its name. */
export function toolWords({ output, isDone, durationMs }: ToolUse): string {
  const time = waitWords(durationMs);
  if (output === undefined) return `was stopped after ${time}`;
  return isDone ? `answered after ${time}` : `failed after ${time}`;
}
