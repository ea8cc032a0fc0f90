import { VERSION } from "../../../engine/version.js";
import { BODY_BYTES_MAX, type Route, type RouteAnswer } from "../routes/route.js";
import { refused } from "../routes/route-answer.js";
import { ROUTES } from "../routes/route-table.js";
import { VOICE_PROTOCOL } from "../voice-protocol.js";
import { API_DESCRIPTION } from "./api-description.js";
import { componentSchemas, type JsonSchema, jsonSchemaOf } from "./json-schema.js";
import type { Media, Operation, Parameter } from "./operation.js";
import {
  PLACED_CALL_OPERATIONS,
  TELEPHONY_OPERATION,
  TELEPHONY_PATH,
} from "./telephony-operation.js";

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
  description: "as lists and creations give it",
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
  const parameters = [...pathParameters(route), ...queryParameters(route)];
  return {
    operationId,
    summary: route.summary,
    tags: [route.group],
    security: SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
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

/** Every answer that a route can give, those that follow from what it is included; one for each status. */
export function answersOf(route: Route): readonly RouteAnswer[] {
  const answers = new Map(impliedRefusals(route).map((answer) => [answer.status, answer]));
  for (const answer of [...(route.others ?? []), route.success]) answers.set(answer.status, answer);
  return [...answers.values()].sort((a, b) => a.status - b.status);
}

function impliedRefusals(route: Route): readonly RouteAnswer[] {
  const { auth, limit, path, query, body } = route;
  const answers = [refused(500, "An error of the server; `requestId` finds it in the log")];
  if (query !== undefined || body !== undefined) {
    answers.push(refused(400, "A field is missing or wrong; `details` lists them"));
  }
  if (auth !== "public") answers.push(refused(401, "Authentication is missing or wrong"));
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
