import * as v from "valibot";
import { hasPlaceholder } from "../../engine/placeholders.js";
import { ON_DELAY_DEFAULT_MS } from "../../engine/tools/agent-toolbox.js";
import {
  type FlatSchema,
  UNREAD_SCHEMA_MAX_BYTES,
  withoutReferences,
} from "../../engine/tools/schema-references.js";
import {
  isToolSchema,
  TOOL_SCHEMA_RULES,
  toolSchemaExpectation,
} from "../../engine/tools/tool-schema.js";
import { hasFixedOrigin } from "../../engine/tools/tool-texts.js";
import type { JsonObject } from "../../storage/records.js";
import {
  choiceField,
  flagField,
  requestObject,
  textField,
  wholeNumberField,
  worded,
} from "./fields.js";

/** All are told to the model with every question. */
export const TOOLS_MAX = 16;
const DESCRIPTION_CHARACTERS_MAX = 1_000;
export const URL_CHARACTERS_MAX = 2_000;
const HEADERS_MAX = 16;
const HEADER_VALUE_CHARACTERS_MAX = 4_096;
const TIMEOUT_MIN_MS = 100;
const TIMEOUT_MAX_MS = 10_000;
/** Longer than that callers ask whether anybody is there. */
const TIMEOUT_DEFAULT_MS = 5_000;

/** E.164, or a SIP address as RFC 3261 writes the plain ones. */
const TRANSFER_TARGET =
  /^(?:\+[1-9]\d{6,14}|sips?:[^\s@<>"\p{Cc}]{1,128}@[^\s@<>"\p{Cc}]{1,128})$/u;

/** Where a caller is transferred to. */
export function transferTarget() {
  return worded(
    v.pipe(
      v.string(),
      v.regex(TRANSFER_TARGET),
      v.examples(["+15550100"]),
      v.description("where to, a number such as +15550100 or an address such as sip:desk@a.org"),
    ),
  );
}

export function transferMode() {
  return choiceField(
    "`blind` (the default), or `warm`: the person hears a summary and accepts before the caller is connected",
    ["blind", "warm"],
  );
}

export const TOOL_NAME_CHARACTERS_MAX = 64;

/** A number in E.164, or the word for the caller's own number. */
const CALLER_ID = /^(?:caller|\+[1-9]\d{6,14})$/;

/** What the person sees whom a caller is transferred to. */
export function transferCallerId() {
  return worded(
    v.pipe(
      v.string(),
      v.regex(CALLER_ID),
      v.examples(["+15550100"]),
      v.description(
        "what the person sees, one of the organization's numbers such as +15550100, or caller (the caller's own number)",
      ),
    ),
  );
}

/** The built-in tools are called as their types; two more names are no keys of a record. */
const TOOL_NAME =
  /^(?!(?:hangup|transfer|sendDigits|constructor|prototype)$)[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
/** Told by the connection itself, or about it: a request that says them twice is broken or smuggled. */
const HEADER_NAME =
  /^(?!(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-[a-z-]*)$)[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/i;
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const TOOL_TYPES = ["hangup", "transfer", "sendDigits", "http", "client"] as const;
const TYPE_WORDS = `what the tool does, one of ${TOOL_TYPES.map((each) => `"${each}"`).join(", ")}`;
const TOOL_WORDS = "a tool with a name that no other one has, an object";

function typeField<const Type extends (typeof TOOL_TYPES)[number]>(type: Type) {
  return worded(v.pipe(v.literal(type), v.description(TYPE_WORDS)));
}

function descriptionField(subject: string) {
  return textField(subject, DESCRIPTION_CHARACTERS_MAX);
}

/** A schema that is too large is not read at all: to follow its references would take long. */
function flatSchema(schema: JsonObject): FlatSchema {
  const isTooLarge = Buffer.byteLength(JSON.stringify(schema)) > UNREAD_SCHEMA_MAX_BYTES;
  if (!isTooLarge) return withoutReferences(schema);
  return { ok: false, error: `the schema has more than ${UNREAD_SCHEMA_MAX_BYTES} bytes` };
}

/** What every tool has that an agent's author names. */
/** Says which keyword of the schema is wrong, and where. */
export const toolSchemaCheck = v.check<
  JsonObject,
  (issue: { readonly input: JsonObject }) => string
>(isToolSchema, ({ input }) => `expected ${toolSchemaExpectation(input)}`);

const httpToolFields = {
  name: worded(
    v.pipe(
      v.string(),
      v.regex(TOOL_NAME),
      v.examples(["findOrder"]),
      v.description("a name of its own, a letter and up to 63 letters, digits, _ or -"),
    ),
  ),
  description: descriptionField("what it does and when to use it, in words for the model"),
  parameters: worded(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.check<JsonObject, (issue: { readonly input: JsonObject }) => string>(
        (schema) => flatSchema(schema).ok,
        ({ input }) => {
          const flat = flatSchema(input);
          return `expected no reference that cannot be replaced: ${flat.ok ? "" : flat.error}`;
        },
      ),
      v.transform((schema) => {
        const flat = flatSchema(schema);
        return flat.ok ? flat.schema : schema;
      }),
      toolSchemaCheck,
      v.description(
        `what its arguments are, ${TOOL_SCHEMA_RULES}; a $ref to the schema's own $defs is replaced by what it names`,
      ),
    ),
  ),
};
const SENTENCE_CHARACTERS_MAX = 300;
const ON_DELAY_MIN_MS = 500;

/** What the agent says while a tool runs. */
export const sentenceFields = {
  onStart: v.exactOptional(
    textField(
      "a sentence that the agent says while it runs, where the model has said nothing",
      SENTENCE_CHARACTERS_MAX,
      1,
    ),
  ),
  onDelay: v.exactOptional(
    textField(
      "a sentence that the agent says once if it still runs after onDelayMs",
      SENTENCE_CHARACTERS_MAX,
      1,
    ),
  ),
  onFailure: v.exactOptional(
    textField(
      "a sentence that the agent says when it has failed or timed out",
      SENTENCE_CHARACTERS_MAX,
      1,
    ),
  ),
};

/** How the agent speaks while a tool runs. */
export const besideSpeechFields = {
  onStart: sentenceFields.onStart,
  onDelay: sentenceFields.onDelay,
  onDelayMs: v.exactOptional(
    wholeNumberField(
      `milliseconds until onDelay is said, ${ON_DELAY_DEFAULT_MS} if left out`,
      ON_DELAY_MIN_MS,
      TIMEOUT_MAX_MS,
    ),
  ),
  onFailure: sentenceFields.onFailure,
  background: v.exactOptional(
    choiceField(
      "how it runs in the background: its result is read with the next reply, or starts a turn",
      ["quiet", "reply"],
    ),
  ),
  cancellable: v.exactOptional(
    flagField("whether the request is aborted when the caller interrupts, or when the call ends"),
  ),
};
const timeoutField = v.optional(
  wholeNumberField("milliseconds until it is given up", TIMEOUT_MIN_MS, TIMEOUT_MAX_MS),
  TIMEOUT_DEFAULT_MS,
);

export function webAddressField(subject: string) {
  return worded(
    v.pipe(
      v.string(),
      v.maxLength(URL_CHARACTERS_MAX),
      v.check(isWebAddress),
      v.description(subject),
    ),
  );
}

const headersRecord = v.record(
  v.pipe(v.string(), v.regex(HEADER_NAME)),
  v.pipe(v.string(), v.maxLength(HEADER_VALUE_CHARACTERS_MAX), v.regex(HEADER_VALUE)),
);
const HEADERS = `headers of its requests, an object of at most ${HEADERS_MAX} texts of printable ASCII characters; they are kept secret, and left out they stay as they are`;

function headersField(words: string) {
  return worded(
    v.pipe(
      headersRecord,
      v.maxEntries(HEADERS_MAX),
      v.examples([{ authorization: "Bearer ..." }]),
      v.description(words),
    ),
  );
}

export const secretHeadersField = headersField(HEADERS);

const WITH_VARIABLES = "with {{name|default}} for the variables of a call";

/** Variables stand behind the host: no value of a call says which server is asked. */
const toolAddressField = worded(
  v.pipe(
    v.string(),
    v.maxLength(URL_CHARACTERS_MAX),
    v.check(
      (url) => !hasPlaceholder(url) || hasFixedOrigin(url),
      "expected variables only behind the host, in the path or the query",
    ),
    v.check(isWebAddress),
    v.description(
      `the service's http or https address, without user name, ${WITH_VARIABLES} in path and query`,
    ),
  ),
);

/** The values of a call never name a header. */
export const filledHeadersField = headersField(`${HEADERS}; values ${WITH_VARIABLES}`);

const FIXED_PARAMETERS_MAX = 16;
const FIXED_VALUE_CHARACTERS_MAX = 1_000;
const PARAMETER_NAME = /^(?!(?:__proto__|constructor|prototype)$)[\w.-]{1,64}$/;

const fixedParametersField = worded(
  v.pipe(
    v.record(
      v.pipe(v.string(), v.regex(PARAMETER_NAME)),
      v.pipe(v.string(), v.maxLength(FIXED_VALUE_CHARACTERS_MAX)),
    ),
    v.maxEntries(FIXED_PARAMETERS_MAX),
    v.examples([{ customer: "{{customerId|unknown}}" }]),
    v.description(
      `arguments that the model neither writes nor sees, an object of at most ${FIXED_PARAMETERS_MAX} texts ${WITH_VARIABLES}; they are kept secret, and left out they stay as they are`,
    ),
  ),
);

const toolFields = worded(
  v.pipe(
    v.variant(
      "type",
      [
        requestObject({ type: typeField("hangup") }),
        requestObject({
          type: typeField("transfer"),
          to: transferTarget(),
          description: v.exactOptional(descriptionField("when to use it, in words for the model")),
          mode: v.exactOptional(transferMode()),
          callerId: v.exactOptional(transferCallerId()),
        }),
        requestObject({ type: typeField("sendDigits") }),
        requestObject({
          type: typeField("http"),
          ...httpToolFields,
          url: toolAddressField,
          method: choiceField("GET with the arguments in the query, or POST with them as JSON", [
            "GET",
            "POST",
          ]),
          headers: v.exactOptional(filledHeadersField),
          fixedParameters: v.exactOptional(fixedParametersField),
          timeoutMs: timeoutField,
          speak: v.optional(
            flagField(
              "whether a text that it answers is spoken as it is, instead of given to the model",
            ),
            false,
          ),
          sendCallInfo: v.exactOptional(
            flagField(
              "whether its requests have the headers x-parley-direction, x-parley-from, x-parley-to and x-parley-caller-name",
            ),
          ),
          ...besideSpeechFields,
        }),
        requestObject({
          type: typeField("client"),
          ...httpToolFields,
          timeoutMs: timeoutField,
          ...besideSpeechFields,
        }),
      ],
      ({ path }) => `expected ${path === undefined ? TOOL_WORDS : TYPE_WORDS}`,
    ),
    v.description(TOOL_WORDS),
  ),
);

export const toolsField = worded(
  v.pipe(
    v.array(toolFields),
    v.maxLength(TOOLS_MAX),
    v.checkItems(
      (tool, index, tools) => tools.findIndex((each) => isNamesake(each, tool)) === index,
      `expected ${TOOL_WORDS}`,
    ),
    v.description(`what the agent may do, a list of at most ${TOOLS_MAX} tools`),
  ),
);

export const shownSentences = {
  onStart: v.exactOptional(v.string()),
  onDelay: v.exactOptional(v.string()),
  onFailure: v.exactOptional(v.string()),
};

export const shownBesideSpeech = {
  ...shownSentences,
  onDelayMs: v.exactOptional(v.number()),
  background: v.exactOptional(v.picklist(["quiet", "reply"])),
  cancellable: v.exactOptional(v.boolean()),
};

export const AgentTool = v.variant("type", [
  v.object({ type: v.literal("hangup") }),
  v.object({
    type: v.literal("transfer"),
    to: v.string(),
    description: v.exactOptional(v.string()),
    mode: v.exactOptional(v.picklist(["blind", "warm"])),
    callerId: v.exactOptional(v.string()),
  }),
  v.object({ type: v.literal("sendDigits") }),
  v.object({
    type: v.literal("http"),
    name: v.string(),
    description: v.string(),
    parameters: v.record(v.string(), v.unknown()),
    url: v.string(),
    method: v.picklist(["GET", "POST"]),
    headerNames: v.pipe(v.array(v.string()), v.description("their values are never answered")),
    fixedParameterNames: v.exactOptional(v.array(v.string())),
    timeoutMs: v.number(),
    speak: v.boolean(),
    sendCallInfo: v.exactOptional(v.boolean()),
    ...shownBesideSpeech,
  }),
  v.object({
    type: v.literal("client"),
    name: v.string(),
    description: v.string(),
    parameters: v.record(v.string(), v.unknown()),
    timeoutMs: v.number(),
    ...shownBesideSpeech,
  }),
]);

type ToolFields = v.InferOutput<typeof toolFields>;

function isNamesake(a: ToolFields, b: ToolFields): boolean {
  return nameOf(a) === nameOf(b);
}

function nameOf(tool: ToolFields): string {
  return "name" in tool ? tool.name : tool.type;
}

export function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
