import * as v from "valibot";
import { Count, Id, Timestamp } from "./fields.js";

const shareFields = {
  calls: Count,
  failed: Count,
  failures: v.pipe(
    v.array(
      v.object({
        endReason: v.pipe(v.string(), v.description("as in the call's metadata")),
        calls: Count,
      }),
    ),
    v.description("why those failed, the most frequent reason first"),
  ),
  minutes: v.number(),
  llmTokens: v.number(),
  ttsChars: v.number(),
};

export const UsageShares = v.object({
  calls: v.pipe(Count, v.description("how many calls were counted")),
  isWhole: v.pipe(
    v.boolean(),
    v.description("false where there were more than the latest 5,000, which alone are counted"),
  ),
  agents: v.array(v.object({ id: Id, ...shareFields })),
  apiKeys: v.array(
    v.object({
      id: v.pipe(
        v.nullable(Id),
        v.description(
          "null: calls without a key, such as by client token or placed in the console",
        ),
      ),
      channel: v.optional(
        v.pipe(
          v.picklist(["web", "phone"]),
          v.description("where `id` is null: how those calls came; each has a share of its own"),
        ),
      ),
      ...shareFields,
    }),
  ),
});

export const VendorShare = v.object({
  category: v.picklist(["llm", "tts", "stt"]),
  vendor: v.pipe(v.string(), v.examples(["openai"])),
  answered: v.pipe(Count, v.description("turns in which it answered")),
  failed: v.pipe(Count, v.description("turns in which it was asked first, in vain")),
  lastFault: v.pipe(
    v.nullable(v.string()),
    v.description("what went wrong when it failed last, such as timeout"),
  ),
  wastedMs: v.pipe(Count, v.description("what asking it in vain has cost, in all")),
  faults: v.pipe(
    v.array(
      v.object({
        fault: v.pipe(v.string(), v.examples(["timeout"])),
        model: v.pipe(v.nullable(v.string()), v.description("null where the record has none")),
        turns: Count,
        lastCallId: v.pipe(Id, v.description("the newest call that has such a turn")),
        lastCallAt: v.pipe(Timestamp, v.description("when that call began")),
      }),
    ),
    v.description("what went wrong in the turns in which it failed, the most frequent first"),
  ),
});
