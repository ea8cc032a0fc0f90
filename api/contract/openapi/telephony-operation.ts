import { PHONE_VENDOR_NAMES } from "../../../engine/telephony/telephony-settings.js";
import type { Operation } from "./operation.js";

export const TELEPHONY_PATH = "/api/telephony/voice";

const XML_TEXT = { type: "string" } as const;
const ERROR_SCHEMA = { $ref: "#/components/schemas/Error" };
const json = { "application/json": { schema: ERROR_SCHEMA } };

const FORM_BODY = {
  required: true,
  content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } },
} as const;

/** The endpoint that speaks the telephony vendor's language in place of JSON, so it is no row of the route table. */
export const TELEPHONY_OPERATION: Operation = {
  operationId: "answerPhoneCall",
  summary: "Answer a phone call (called by the telephony vendor)",
  tags: ["Calls"],
  security: [{ apiKeyQuery: [] }],
  parameters: [
    {
      name: "agent_id",
      in: "query",
      required: false,
      description: "the agent to talk with; left out, the first active one in creation order",
      schema: { type: "string" },
    },
    {
      name: "vendor",
      in: "query",
      required: false,
      description:
        "the telephony vendor; left out, Twilio. `asterisk` (its WebSocket channel) and `audiosocket` are dialplans of Asterisk",
      schema: { type: "string", enum: [...PHONE_VENDOR_NAMES] },
    },
  ],
  requestBody: {
    required: true,
    content: {
      ...FORM_BODY.content,
      "application/json": { schema: { type: "object" } },
    },
  },
  responses: {
    "200": {
      description:
        "The vendor's own document (TwiML or the like), which connects the call, or says why not and hangs up; for `audiosocket` the UUID that the stream begins with, for `asterisk` the token for its address, or the reason in words",
      content: {
        "text/xml": { schema: XML_TEXT },
        "application/json": { schema: { type: "array", items: { type: "object" } } },
        "text/plain": { schema: XML_TEXT },
      },
    },
    "400": { description: "There is no such vendor", content: json },
    "401": { description: "The key is missing or wrong", content: json },
    "403": {
      description: "The vendor's signature is wrong, or the key lacks the scope",
      content: json,
    },
    "429": { description: "Too many requests; see `Retry-After`", content: json },
    "500": { description: "An error of the server", content: json },
    "503": {
      description: "There is no port for AudioSocket, or too many calls wait",
      content: json,
    },
  },
};

const tokenParameter = {
  name: "token",
  in: "query",
  required: true,
  description: "as it stands in the address that the vendor was given with the call",
  schema: { type: "string" },
} as const;
const placedCall = {
  tags: ["Calls"],
  security: [],
  parameters: [tokenParameter],
  requestBody: FORM_BODY,
} satisfies Partial<Operation>;
const PLACED_CALL_REFUSALS = {
  "403": { description: "The vendor's signature is wrong", content: json },
  "413": { description: "The body is larger than 64 KiB", content: json },
  "500": { description: "An error of the server", content: json },
};

/** What the vendor asks and tells of calls that were placed from here, by path. */
export const PLACED_CALL_OPERATIONS: Readonly<Record<string, Operation>> = {
  "/api/telephony/answer": {
    ...placedCall,
    operationId: "connectPlacedCall",
    summary: "Connect a placed call that was answered (called by the telephony vendor)",
    responses: {
      "200": {
        description: "TwiML that connects the call, or says that it is over and hangs up",
        content: { "text/xml": { schema: XML_TEXT } },
      },
      ...PLACED_CALL_REFUSALS,
    },
  },
  "/api/telephony/status": {
    ...placedCall,
    operationId: "reportPlacedCall",
    summary: "Report the outcome of a placed call (called by the telephony vendor)",
    responses: {
      "204": { description: "Accepted", content: {} },
      "401": { description: "The token is missing, wrong or too old", content: json },
      ...PLACED_CALL_REFUSALS,
    },
  },
};
