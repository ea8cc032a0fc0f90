import * as v from "valibot";
import { choiceField, Id, nameField, requestObject, Timestamp, worded } from "./fields.js";

export const ApiKeyBody = requestObject({
  name: nameField("the key's name"),
  scopes: v.optional(
    worded(
      v.pipe(
        v.array(choiceField("what the key gives access to", ["voice", "dashboard"])),
        v.minLength(1),
        v.maxLength(2),
        v.checkItems((scope, index, scopes) => scopes.indexOf(scope) === index),
        v.description('the key\'s scopes, a list of "voice", "dashboard" or both'),
      ),
    ),
  ),
});

const Scope = v.picklist(["voice", "dashboard"]);

export const ApiKey = v.object({
  id: Id,
  name: v.string(),
  keyPrefix: v.string(),
  scopes: v.array(Scope),
  createdAt: Timestamp,
  lastUsedAt: v.nullable(Timestamp),
  revokedAt: v.pipe(v.nullable(Timestamp), v.description("null while the key is valid")),
});

export const CreatedApiKey = v.object({
  id: Id,
  name: v.string(),
  keyPrefix: v.string(),
  scopes: v.array(Scope),
  rawKey: v.pipe(v.string(), v.description("the key itself; only this answer has it")),
  createdAt: Timestamp,
});
