import * as v from "valibot";
import { isOriginPattern } from "../../engine/security/origins.js";
import { overridesField, variablesField } from "./call-values.js";
import { idField, requestObject, Timestamp, wholeNumberField, worded } from "./fields.js";

const TTL_SEC_MAX = 3_600;
const CALL_SEC_MAX = 86_400;
/** A token has to fit into an address. */
const TOKEN_VARIABLES_MAX = 20;
const ORIGIN_CHARACTERS_MAX = 200;

export function originField(subject: string) {
  return worded(
    v.pipe(
      v.string(),
      v.maxLength(ORIGIN_CHARACTERS_MAX),
      v.check(isOriginPattern),
      v.examples(["https://shop.example.com"]),
      v.description(
        `${subject}, an origin such as https://shop.example.com, https://*.example.com or capacitor://localhost`,
      ),
    ),
  );
}

export const ClientTokenBody = requestObject({
  agentId: idField("the agent that may be called"),
  ttlSec: wholeNumberField("seconds for which a call may be begun", 10, TTL_SEC_MAX),
  callMaxSec: v.optional(wholeNumberField("seconds of a call", 1, CALL_SEC_MAX)),
  origin: v.optional(originField("the only site whose pages may use it")),
  variables: v.optional(variablesField(TOKEN_VARIABLES_MAX)),
  overrides: v.optional(overridesField),
});

export const IssuedClientToken = v.object({
  token: v.pipe(v.string(), v.description("for the `token` of `/ws/voice`")),
  expiresAt: Timestamp,
});
