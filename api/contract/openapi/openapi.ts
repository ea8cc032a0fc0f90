import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from "../../../engine/calls/idempotent-requests.js";
import { VERSION } from "../../../engine/version.js";
import { BODY_BYTES_MAX, type Route, type RouteAnswer } from "../routes/route.js";
import { refused } from "../routes/route-answer.js";
import { ROUTES } from "../routes/route-table.js";
import { VOICE_PROTOCOL } from "../voice-protocol.js";
import { componentSchemas, type JsonSchema, jsonSchemaOf } from "./json-schema.js";
import type { Media, Operation, Parameter } from "./operation.js";
import {
  PLACED_CALL_OPERATIONS,
  TELEPHONY_OPERATION,
  TELEPHONY_PATH,
} from "./telephony-operation.js";

interface Step {
  readonly text: string;
  readonly command?: string;
}

const STEPS: readonly Step[] = [
  {
    text: "Sign up. The answer holds a token, but the organization is pending until a platform administrator activates it: `npm run admin -- org activate ada@example.com`.",
    command: `curl -s $BASE/api/auth/signup -H 'content-type: application/json' \\
  -d '{"name":"Ada","email":"ada@example.com",
       "password":"at least 8 characters","orgName":"Example"}'`,
  },
  {
    text: "Once activated, sign in and keep the token for an hour; send it as a bearer token.",
    command: `TOKEN=$(curl -s $BASE/api/auth/signin -H 'content-type: application/json' \\
  -d '{"email":"ada@example.com","password":"at least 8 characters"}' | jq -r .token)`,
  },
  {
    text: "Choose models that the plan allows, one for each category: `llm`, `tts` and `stt`.",
    command: `curl -s "$BASE/api/dashboard/models/search?category=llm" -H "authorization: Bearer $TOKEN"`,
  },
  {
    text: "Create an agent with the ids that were found.",
    command: `curl -s $BASE/api/dashboard/agents -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"name":"Receptionist","llmProviderId":"…","llmModelId":"…",
       "ttsProviderId":"…","ttsModelId":"…","sttProviderId":"…"}'`,
  },
  {
    text: "Try it in text: the reply comes as server-sent events, through the prompt and the model of its calls.",
    command: `curl -sN $BASE/api/dashboard/agents/$AGENT/chat -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"messages":[{"role":"user","content":"When are you open?"}]}'`,
  },
  {
    text: "Create an API key for calls. It is shown once. Without `scopes` it would open the dashboard too, and make further keys: such a one belongs on your own server only.",
    command: `curl -s $BASE/api/dashboard/api-keys -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"name":"Website","scopes":["voice"]}'`,
  },
  {
    text: "Open the voice WebSocket with the key, wait for `connected`, and send the microphone; on a sandbox a program can call in its place.",
    command: `npm run call -- --url $BASE --key vk_… --text "My name is Anna."`,
  },
  {
    text: "Look at the calls, newest first, at one of them with its transcript, and at the usage of the last days.",
    command: `curl -s "$BASE/api/dashboard/calls?limit=5" -H "authorization: Bearer $TOKEN"
curl -s $BASE/api/dashboard/calls/$CALL -H "authorization: Bearer $TOKEN"
curl -s "$BASE/api/dashboard/analytics/usage?days=7" -H "authorization: Bearer $TOKEN"`,
  },
];

const RULES: readonly string[] = [
  "Bodies are JSON of at most 1 MiB. Unknown fields are ignored; of duplicate keys the last one counts.",
  "Every refusal has the body `{error}`, with `details: [{path, message}]` where fields are wrong. A 500 has a `requestId`, which every answer carries as `x-request-id` too.",
  "A resource of another organization answers 404, like one that does not exist.",
  "Paged lists take `skip` and `limit` and answer `{items, total, skip, limit}`; others are plain arrays.",
  "429 and 503 say in `Retry-After` how many seconds to wait. Sign-up and sign-in have a limit of their own, and so have tests of providers and chats with agents, which cost something at a vendor.",
  "A token or an API key opens the dashboard: `authorization: Bearer …`, `x-api-key: …`, or `api_key=…` in the query where headers cannot be set.",
];

/** In Markdown: how to get from nothing to a call, and what holds for every endpoint. */
export const QUICK_START: string = [
  "## Getting started",
  "`BASE` is the address of this server, with its sub-path where it has one:",
  shellBlock("BASE=https://voice.example.com"),
  ...STEPS.map(stepText),
  "## Conventions",
  RULES.map((rule) => `- ${rule}`).join("\n"),
].join("\n\n");

function stepText({ text, command }: Step, index: number): string {
  const line = `${index + 1}. ${text}`;
  return command === undefined ? line : `${line}\n\n${indented(shellBlock(command))}`;
}

function shellBlock(command: string): string {
  return `\`\`\`sh\n${command}\n\`\`\``;
}

/** Indents a block so that it belongs to its step, whose number and blank take three columns. */
function indented(block: string): string {
  return block.replaceAll(/^/gm, "   ");
}

const SUMMARY =
  "Configurable voice agents for many organizations: accounts, agents, providers, API keys, calls and usage.";

const TELEPHONY = [
  "## Telephony",
  `A vendor asks \`POST ${TELEPHONY_PATH}?api_key=…&agent_id=…&vendor=…\` when a number is called, and is answered with its own document, which connects the call to \`/ws/telephony/stream\`.`,
  "The key needs the scope `voice` and never leaves this server: the stream carries a token that lasts minutes and fits one call. Where the vendor's own key is set, its signature is checked, and a wrong one is refused with 403. What a caller has to hear, as that all lines are taken, is answered with 200 and said on the telephone.",
].join("\n\n");

/** What the document says of the whole API, in Markdown: the parts that OpenAPI has no fields for too. */
export const API_DESCRIPTION: string = [
  SUMMARY,
  QUICK_START,
  voiceSection(VOICE_PROTOCOL),
  TELEPHONY,
].join("\n\n");

function voiceSection(protocol: typeof VOICE_PROTOCOL): string {
  const { path, summary, parameters, clientSends, serverSends, closeCodes } = protocol;
  return [
    "## Voice WebSocket",
    summary,
    `\`GET ${path}?api_key=…&agent_id=…\``,
    table(
      ["Query parameter", "Needed", "Meaning"],
      parameters.map(({ name, required, description }) => [
        `\`${name}\``,
        required ? "yes" : "no",
        description,
      ]),
    ),
    `**The client sends** ${clientSends}`,
    "**The server sends**",
    table(
      ["Type", "Frame", "Meaning"],
      serverSends.map(({ type, example, description }) => [
        `\`${type}\``,
        `\`${example}\``,
        description,
      ]),
    ),
    table(
      ["Close code", "Meaning"],
      closeCodes.map(({ code, meaning }) => [String(code), meaning]),
    ),
  ].join("\n\n");
}

/** No cell may hold a line break or a `|`. */
function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return [headings, headings.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  readonly "x-websockets": readonly (typeof VOICE_PROTOCOL)[];
}

const ID_PARAMETER = {
  name: "id",
  in: "path",
  required: true,
  description: "as returned by lists and when created",
} as const;

const IDEMPOTENCY_PARAMETER = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A new random value for each order. A request that is sent again with it within 24 hours gets the first answer, and nothing happens twice.",
  schema: { type: "string", maxLength: IDEMPOTENCY_KEY_CHARACTERS_MAX },
} as const;

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  apiKeyHeader: { type: "apiKey", in: "header", name: "x-api-key" },
  apiKeyQuery: { type: "apiKey", in: "query", name: "api_key" },
};
const USER_OR_KEY = [{ bearer: [] }, { apiKeyHeader: [] }, { apiKeyQuery: [] }];
const SECURITY: Readonly<Record<Route["auth"], Operation["security"]>> = {
  public: [],
  user: [{ bearer: [] }],
  dashboard: USER_OR_KEY,
  voice: USER_OR_KEY,
  admin: [{ bearer: [] }],
  supervisor: USER_OR_KEY,
  operator: [{ bearer: [] }],
};

/** The OpenAPI 3.1 document of the route table, from the very schemas that validate requests. */
export function openApiDocument(): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [id, route] of Object.entries<Route>(ROUTES)) {
    const path = route.path.replace(":id", "{id}");
    paths[path] = { ...paths[path], [route.method]: operationOf(id, route) };
  }
  paths[TELEPHONY_PATH] = { post: TELEPHONY_OPERATION };
  for (const [path, post] of Object.entries(PLACED_CALL_OPERATIONS)) paths[path] = { post };
  const groups = Object.values(paths).flatMap((methods) => Object.values(methods));
  return {
    openapi: "3.1.0",
    info: { title: "Parley", version: VERSION, description: API_DESCRIPTION },
    servers: [{ url: "/" }],
    tags: [...new Set(groups.flatMap(({ tags }) => tags))].map((name) => ({ name })),
    paths,
    components: { schemas: componentSchemas(), securitySchemes: SECURITY_SCHEMES },
    "x-websockets": [VOICE_PROTOCOL],
  };
}

function operationOf(operationId: string, route: Route): Operation {
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route),
    ...(route.idempotent === true ? [IDEMPOTENCY_PARAMETER] : []),
  ];
  return {
    operationId,
    summary: route.summary,
    tags: [route.group],
    security: SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.upload !== undefined && { requestBody: { required: true, content: FILE } }),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: json(jsonSchemaOf(route.body, "input")) } }),
    responses: Object.fromEntries(
      answersOf(route).map((answer) => [
        String(answer.status),
        { description: answer.description, content: contentOf(answer) },
      ]),
    ),
  };
}

const FILE: Media = {
  "application/octet-stream": { schema: { type: "string", format: "binary" } },
};

/** Every answer that a route can give, those that follow from what it is included; one for each status. */
export function answersOf(route: Route): readonly RouteAnswer[] {
  const answers = new Map(impliedRefusals(route).map((answer) => [answer.status, answer]));
  for (const answer of [...(route.others ?? []), route.success]) answers.set(answer.status, answer);
  return [...answers.values()].sort((a, b) => a.status - b.status);
}

function impliedRefusals(route: Route): readonly RouteAnswer[] {
  const { auth, limit, path, query, body, upload, idempotent } = route;
  const answers = [refused(500, "An error of the server; `requestId` finds it in the log")];
  if (query !== undefined || body !== undefined || upload !== undefined) {
    answers.push(refused(400, "A field is missing or wrong; `details` lists them"));
  }
  if (auth !== "public") answers.push(refused(401, "Authentication is missing or wrong"));
  if (auth === "supervisor") {
    answers.push(
      refused(403, "The organization is pending, the user is no admin, or the key lacks the scope"),
    );
  }
  if (auth === "dashboard" || auth === "voice") {
    answers.push(refused(403, "The organization is pending, or the key lacks the scope"));
  }
  if (auth === "admin") {
    answers.push(refused(403, "Only for admins of the organization, which is active"));
  }
  if (auth === "operator") answers.push(refused(403, "Only for operators of the platform"));
  if (path.includes(":id")) answers.push(refused(404, "There is none with this id"));
  if (body !== undefined) {
    answers.push(refused(408, "The body did not arrive in time"));
    answers.push(refused(413, `The body is larger than ${BODY_BYTES_MAX / 1024} KiB`));
    answers.push(refused(415, "The body is not JSON"));
  }
  if (idempotent === true) {
    answers.push(refused(409, "The first request with this `Idempotency-Key` is in progress"));
    answers.push(refused(422, "The `Idempotency-Key` was used for another request"));
  }
  if (upload !== undefined) {
    answers.push(refused(408, "The body did not arrive in time"));
    answers.push(refused(413, `The body is larger than ${upload.bytesMax / 1024 / 1024} MiB`));
    answers.push(refused(415, "The body is compressed"));
  }
  if (limit !== "none") answers.push(refused(429, "Too many requests; see `Retry-After`"));
  if (auth !== "public" || limit === "auth") {
    answers.push(refused(503, "The server is overloaded; see `Retry-After`"));
  }
  return answers;
}

function pathParameters({ path }: Route): readonly Parameter[] {
  return path.includes(":id") ? [{ ...ID_PARAMETER, schema: { type: "string" } }] : [];
}

function queryParameters({ query }: Route): readonly Parameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(query, "output");
  return Object.entries(properties).map(([name, property]) => {
    // A form would fill in an example as if the reader had chosen it.
    const {
      description = "",
      examples: _none,
      ...schema
    } = typeof property === "boolean" ? {} : property;
    const hasPreset = schema.type === "integer" && schema.default !== undefined;
    const preset = hasPreset ? { default: Number(schema.default) } : {};
    return {
      name,
      in: "query",
      required: required.includes(name) && schema.default === undefined,
      description,
      schema: { ...schema, ...preset },
    };
  });
}

function contentOf({ schema, events, download }: RouteAnswer): Media {
  if (download !== undefined)
    return { [download]: { schema: { type: "string", format: "binary" } } };
  if (events === undefined) return json(jsonSchemaOf(schema, "output"));
  const schemas = Object.entries(events).map(([name, data]) => [
    name,
    jsonSchemaOf(data, "output"),
  ]);
  return {
    "text/event-stream": { schema: { type: "string" }, "x-events": Object.fromEntries(schemas) },
  };
}

function json(schema: JsonSchema): Media {
  return { "application/json": { schema } };
}
