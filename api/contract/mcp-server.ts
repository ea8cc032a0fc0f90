import * as v from "valibot";
import {
  besideSpeechFields,
  filledHeadersField,
  shownBesideSpeech,
  webAddressField,
} from "./agent-tool.js";
import {
  choiceField,
  requestObject,
  Timestamp,
  textField,
  wholeNumberField,
  worded,
} from "./fields.js";

export const SERVERS_MAX = 8;
const ALLOWED_TOOLS_MAX = 100;
const TOOL_NAME_CHARACTERS_MAX = 200;
const SECRET_CHARACTERS_MAX = 4_096;
const TIMEOUT_MIN_MS = 100;
const TIMEOUT_MAX_MS = 10_000;
const TIMEOUT_DEFAULT_MS = 5_000;
/** Without `_`, which stands between it and a tool's name; two more names are no keys of a record. */
const SERVER_NAME = /^(?!(?:constructor|prototype)$)[a-zA-Z][a-zA-Z0-9-]{0,19}$/;
/** What a header can hold. */
const SECRET = /^[\x21-\x7e]+$/;

const AUTH_TYPES = ["none", "bearer", "clientCredentials"] as const;
const AUTH_CHOICE = `one of ${AUTH_TYPES.map((each) => `"${each}"`).join(", ")}`;
const AUTH_WORDS = `how the server lets the agent in, ${AUTH_CHOICE}`;
const AUTH_OBJECT = `how the server lets the agent in, an object with a type, ${AUTH_CHOICE}`;

function authType<const Type extends (typeof AUTH_TYPES)[number]>(type: Type) {
  return worded(v.pipe(v.literal(type), v.description(AUTH_WORDS)));
}

function secretField(subject: string) {
  return v.exactOptional(
    worded(
      v.pipe(
        v.string(),
        v.regex(SECRET),
        v.maxLength(SECRET_CHARACTERS_MAX),
        v.examples(["secret"]),
        v.description(`${subject}; it is kept secret, and left out it stays as it is`),
      ),
    ),
  );
}

const authField = worded(
  v.pipe(
    v.variant(
      "type",
      [
        requestObject({ type: authType("none") }),
        requestObject({ type: authType("bearer"), token: secretField("the token") }),
        requestObject({
          type: authType("clientCredentials"),
          tokenUrl: webAddressField(
            "the http or https address of the token endpoint, without user name",
          ),
          clientId: textField("the client's id", 500, 1),
          clientSecret: secretField("the client's secret"),
          scope: v.exactOptional(textField("the scopes, separated by blanks", 500, 1)),
        }),
      ],
      ({ path }) => `expected ${path === undefined ? AUTH_OBJECT : AUTH_WORDS}`,
    ),
    v.description(AUTH_OBJECT),
  ),
);

const serverField = requestObject({
  name: worded(
    v.pipe(
      v.string(),
      v.regex(SERVER_NAME),
      v.examples(["crm"]),
      v.description(
        "what stands before its tools' names, a letter and up to 19 letters, digits or -",
      ),
    ),
  ),
  url: webAddressField("the server's http or https address, without user name"),
  auth: v.optional(authField, { type: "none" }),
  headers: v.exactOptional(filledHeadersField),
  allowedTools: v.optional(
    worded(
      v.pipe(
        v.nullable(
          v.pipe(
            v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(TOOL_NAME_CHARACTERS_MAX))),
            v.maxLength(ALLOWED_TOOLS_MAX),
          ),
        ),
        v.description(
          `the names of the tools that may be used, as the server has them, a list of at most ${ALLOWED_TOOLS_MAX}, or null for all`,
        ),
      ),
    ),
    null,
  ),
  timeoutMs: v.optional(
    wholeNumberField("milliseconds until a tool call is given up", TIMEOUT_MIN_MS, TIMEOUT_MAX_MS),
    TIMEOUT_DEFAULT_MS,
  ),
  ...besideSpeechFields,
});

export const mcpServersField = worded(
  v.pipe(
    v.array(serverField),
    v.maxLength(SERVERS_MAX),
    v.checkItems(
      ({ name }, index, servers) => servers.findIndex((each) => each.name === name) === index,
      "expected a name that no other server of the agent has",
    ),
    v.description(
      `servers of the Model Context Protocol whose tools the agent may use, a list of at most ${SERVERS_MAX}, each with a name of its own, replaced as a whole`,
    ),
  ),
);

export const AgentMcpServer = v.object({
  name: v.string(),
  url: v.string(),
  auth: v.variant("type", [
    v.object({ type: v.literal("none") }),
    v.object({ type: v.literal("bearer") }),
    v.object({
      type: v.literal("clientCredentials"),
      tokenUrl: v.string(),
      clientId: v.string(),
      scope: v.exactOptional(v.string()),
    }),
  ]),
  headerNames: v.pipe(v.array(v.string()), v.description("their values are never answered")),
  allowedTools: v.nullable(v.array(v.string())),
  timeoutMs: v.number(),
  ...shownBesideSpeech,
});

export const McpToolsQuery = requestObject({
  refresh: v.optional(
    choiceField("whether the servers are asked anew", ["true", "false"]),
    "false",
  ),
});

export const McpServerTools = v.object({
  name: v.string(),
  error: v.pipe(v.nullable(v.string()), v.description("why the newest request failed")),
  protocolVersion: v.nullable(v.string()),
  fetchedAt: v.nullable(Timestamp),
  isCut: v.pipe(v.boolean(), v.description("whether the server has more tools than are read")),
  tools: v.array(
    v.object({
      name: v.string(),
      offeredAs: v.pipe(v.string(), v.description("its name for the LLM")),
      description: v.string(),
    }),
  ),
  omitted: v.pipe(
    v.array(
      v.object({
        name: v.string(),
        reason: v.picklist([
          "notAllowed",
          "notListed",
          "schemaRefused",
          "taskRequired",
          "nameTooLong",
          "nameTaken",
          "overLimit",
        ]),
        message: v.string(),
      }),
    ),
    v.description("the tools that the LLM is not offered"),
  ),
});
