import * as v from "valibot";
import { Count } from "./fields.js";

export const Healthy = v.object({
  status: v.literal("ok"),
  timestamp: v.pipe(v.number(), v.description("epoch milliseconds")),
});

export const Draining = v.object({ status: v.literal("draining"), timestamp: v.number() });

export const SetupStatus = v.object({
  setupComplete: v.boolean(),
  hasOrganization: v.boolean(),
  providers: v.object({ llm: Count, tts: Count, stt: Count }),
});
