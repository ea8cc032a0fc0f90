import * as v from "valibot";
import { Count } from "./fields.js";

const Version = v.pipe(v.string(), v.description("of the server, for example 1.4.0"));

export const Healthy = v.object({
  status: v.literal("ok"),
  timestamp: v.pipe(v.number(), v.description("epoch milliseconds")),
  version: Version,
});

export const Draining = v.object({
  status: v.literal("draining"),
  timestamp: v.number(),
  version: Version,
});

/** For load balancers. Health stays good on a server that is only full. */
export const Ready = v.object({ status: v.literal("ready"), timestamp: v.number() });

export const NotReady = v.object({
  status: v.picklist(["draining", "overloaded", "storage", "encryption_key"]),
  timestamp: v.number(),
  reason: v.optional(
    v.pipe(v.string(), v.description("what has to be fixed, with `storage` and `encryption_key`")),
  ),
});

export const SetupStatus = v.object({
  setupComplete: v.boolean(),
  hasOrganization: v.boolean(),
  providers: v.object({ llm: Count, tts: Count, stt: Count }),
});
