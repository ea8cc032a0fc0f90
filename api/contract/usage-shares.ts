import * as v from "valibot";
import { Count, Id } from "./fields.js";

const shareFields = {
  calls: Count,
  failed: Count,
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
        v.description("null: calls without a key, such as by telephone or by client token"),
      ),
      ...shareFields,
    }),
  ),
});
