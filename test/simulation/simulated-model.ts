import type {
  ReplyDoneEvent,
  ReplyFailedEvent,
  ReplyTokenEvent,
} from "../../engine/conversation/events.js";
import type { NumberedWords } from "./numbered-words.js";
import type { SeededRandom } from "./seeded-random.js";

/** The names include a tool that was not offered: models make names up. */
const TOOLS = ["weather", "weather", "weather", "hangup", "transfer", "unknown"];

type Told<Event> = Omit<Event, "atMs" | "turnId">;

export interface ModelStep {
  readonly afterMs: number;
  readonly event: Told<ReplyTokenEvent> | Told<ReplyDoneEvent> | Told<ReplyFailedEvent>;
}

/** What a model does that was asked: tokens and an end, or a fault somewhere among them. */
export function modelSteps(
  random: SeededRandom,
  words: NumberedWords,
  faultRate: number,
): ModelStep[] {
  const steps: ModelStep[] = [];
  const tokenCount = random.chance(0.05) ? 0 : random.whole(1, 40);
  const fault = random.chance(faultRate) ? random.pick(["fail", "refuse", "stall"]) : "none";
  const breakAt = fault === "none" ? -1 : random.whole(0, tokenCount);
  let afterMs = random.whole(50, 900);
  for (let index = 0; index < tokenCount && index !== breakAt; index += 1) {
    steps.push({ afterMs, event: { type: "replyToken", text: words.next() } });
    afterMs += random.whole(0, 60);
  }
  if (fault === "stall") return steps;
  if (fault !== "none") {
    return [...steps, { afterMs, event: { type: "replyFailed", retryable: fault === "fail" } }];
  }
  const tokens = random.whole(10, 80);
  const toolCalls = random.chance(0.2)
    ? [{ id: "t", name: random.pick(TOOLS), argumentsJson: "{}" }]
    : [];
  return [...steps, { afterMs, event: { type: "replyDone", tokens, toolCalls } }];
}
