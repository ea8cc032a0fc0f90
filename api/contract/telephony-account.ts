import * as v from "valibot";
import { PHONE_VENDOR_NAMES } from "../../engine/telephony/telephony-settings.js";
import {
  choiceField,
  flagField,
  Id,
  idField,
  nameField,
  requestObject,
  Timestamp,
  worded,
} from "./fields.js";

const FIELDS_MAX = 10;
const TEXT_CHARACTERS_MAX = 8_192;

const texts = (subject: string) =>
  worded(
    v.pipe(
      v.record(v.string(), v.nullable(v.pipe(v.string(), v.maxLength(TEXT_CHARACTERS_MAX)))),
      v.maxEntries(FIELDS_MAX),
      v.description(`${subject}, an object of at most ${FIELDS_MAX} texts; null removes one`),
    ),
  );

const settings = texts("what may be read back, such as the account's id");
const credentials = texts("secrets, which are encrypted and never shown again");

export const TelephonyAccountBody = requestObject({
  vendor: choiceField("the telephony vendor of the account", PHONE_VENDOR_NAMES),
  name: nameField("the account's name"),
  settings: v.optional(settings),
  credentials: v.optional(credentials),
});

export const TelephonyAccountChangeBody = requestObject({
  name: v.optional(nameField("the account's name")),
  settings: v.optional(settings),
  credentials: v.optional(credentials),
});

export const TelephonyAccount = v.object({
  id: Id,
  vendor: v.string(),
  name: v.string(),
  settings: v.record(v.string(), v.unknown()),
  credentialNames: v.pipe(
    v.array(v.string()),
    v.description("the names of the credentials that are stored"),
  ),
  webhookPath: v.pipe(
    v.string(),
    v.description("where the vendor's webhooks come, below the server's address"),
  ),
  canImport: v.pipe(
    v.boolean(),
    v.description("whether the vendor's API lists the numbers of such an account"),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

/** For a form that asks for an account at one of the vendors. */
export const TelephonyVendors = v.array(
  v.object({
    vendor: v.picklist(PHONE_VENDOR_NAMES),
    canImport: v.boolean(),
    fields: v.array(
      v.object({
        name: v.string(),
        label: v.string(),
        part: v.picklist(["settings", "credentials"]),
        required: v.boolean(),
        expected: v.pipe(v.string(), v.description("completes “expected …”")),
      }),
    ),
  }),
);

export const TelephonyAccountTest = v.object({
  ok: v.boolean(),
  latencyMs: v.number(),
  error: v.optional(v.pipe(v.string(), v.description("what the vendor answered, in words"))),
});

export const AccountNumbers = v.array(
  v.object({
    number: v.pipe(v.string(), v.description("in E.164")),
    label: v.pipe(v.string(), v.description("what the account's owner calls it, or empty")),
    webhookUrl: v.pipe(
      v.nullable(v.string()),
      v.description("where the vendor asks about its calls; null: the vendor's list does not say"),
    ),
    isImported: v.boolean(),
  }),
);

export const ImportNumberBody = requestObject({
  number: worded(
    v.pipe(
      v.string(),
      v.regex(/^\+[1-9]\d{6,14}$/),
      v.examples(["+15550102000"]),
      v.description("a number of the account, in E.164"),
    ),
  ),
  agentId: v.nullish(
    idField("the id of the agent that answers, or null (the first active one)"),
    null,
  ),
  setWebhook: v.optional(
    flagField("whether the vendor is told to ask this server about calls to the number"),
    true,
  ),
});
