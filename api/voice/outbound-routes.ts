import { type Continuations, placedCallKey } from "../../engine/calls/continuations.js";
import { ANSWER_PATH, STATUS_PATH } from "../../engine/calls/outbound/outbound-telephony.js";
import type { PlacedCalls } from "../../engine/calls/outbound/placed-calls.js";
import { RequestError } from "../../engine/request-error.js";
import type { StreamTokenRegistry } from "../../engine/security/stream-token.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import { callInfoOf } from "../../engine/telephony/call-info.js";
import { DEFAULT_PHONE_VENDOR } from "../../engine/telephony/phone-vendors.js";
import { TWILIO } from "../../engine/telephony/twilio/twilio.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { connectDocument, documentAnswer, type StreamAddress } from "./phone-document.js";
import {
  requireSignature,
  SIGNED_HEADERS,
  type SignatureOptions,
  type SignedRequest,
} from "./webhook-signature.js";

/** A report has some thirty short fields. */
const BODY_BYTES_MAX = 64 * 1024;
const CALL_REF = /^CA[0-9a-f]{32}$/i;
/** The stream's parameter that names the placed call. */
export const PLACED_CALL_PARAMETER = "call";
const { documents } = TWILIO;
const CALL_IS_OVER = documentAnswer(
  documents,
  documents.farewell({ text: "This call is over. Goodbye." }),
);

export interface OutboundRoutesOptions extends SignatureOptions {
  readonly outbound: PlacedCalls;
  readonly continuations: Pick<Continuations, "tokenFor">;
  readonly streamTokens: StreamTokenRegistry;
  readonly answeredWebhooks: WebhookAnswers;
  readonly streamAddress: StreamAddress;
}

/** What the vendor asks and tells of placed calls, each with the call's signed token in place of an API key. */
export function outboundRoutes(options: OutboundRoutesOptions): readonly Endpoint[] {
  return [
    route(ANSWER_PATH, options, (call) => answered(call, options)),
    route(STATUS_PATH, options, (call) => reported(call, options)),
  ];
}

interface PlacedCallRequest {
  readonly request: IncomingRequest;
  readonly signed: SignedRequest | undefined;
  readonly token: string;
  readonly body: string;
  readonly form: URLSearchParams;
}

type Serve = (placed: PlacedCallRequest) => Promise<Answer>;

function route(path: string, options: OutboundRoutesOptions, serve: Serve): Endpoint {
  return {
    method: "post",
    path,
    headerNames: SIGNED_HEADERS,
    readsBody: true,
    bodyBytesMax: BODY_BYTES_MAX,
    isQuiet: false,
    answer: async (request) => {
      const bytes = Buffer.from(await request.body());
      const signed = await requireSignature(DEFAULT_PHONE_VENDOR, request, path, bytes, options);
      const token = new URLSearchParams(request.queryString).get("token") ?? "";
      const body = bytes.toString("utf8");
      const form = new URLSearchParams(body);
      return serve({ request, signed, token, body, form });
    },
  };
}

/** Somebody answers: their audio comes here. */
async function answered(
  { request, signed, token, form }: PlacedCallRequest,
  options: OutboundRoutesOptions,
): Promise<Answer> {
  const { outbound, streamTokens, answeredWebhooks, streamAddress } = options;
  const claims = await outbound.answering(token);
  if (claims === undefined) return CALL_IS_OVER;
  const { callId, orgId, agentId } = claims;
  const callSid = form.get("CallSid") ?? "";
  const callerRef = CALL_REF.test(callSid) ? callSid : "";
  const vendor = DEFAULT_PHONE_VENDOR;
  const parameters = { [PLACED_CALL_PARAMETER]: callId };
  const streamBase = await streamAddress();
  const deps = { ...options, streamBase, parameters, isNextNamed: true };
  const connect = () => {
    const callKey = placedCallKey(callId);
    const stream = { vendor, orgId, agentId, callerRef, callKey, attempt: 0 };
    return connectDocument(request, documents, stream, streamTokens.mint(stream), deps);
  };
  const answer =
    signed === undefined ? connect() : await answeredWebhooks.answerTo(signed, connect);
  return answer === undefined ? CALL_IS_OVER : documentAnswer(documents, answer);
}

async function reported(
  { token, body, form }: PlacedCallRequest,
  { outbound }: OutboundRoutesOptions,
): Promise<Answer> {
  const status = form.get("CallStatus") ?? "";
  const answeredBy = form.get("AnsweredBy") ?? "";
  const callSid = form.get("CallSid") ?? "";
  const callInfo = {
    ...callInfoOf(body, TWILIO.callInfoFields),
    direction: "outbound",
    phoneVendor: DEFAULT_PHONE_VENDOR,
    ...(CALL_REF.test(callSid) && { phoneCallId: callSid }),
  } as const;
  if (!(await outbound.report(token, { status, answeredBy, callInfo }))) {
    throw new RequestError("invalid_token", "token: expected that of a placed call");
  }
  return { status: 204, contentType: "", body: "" };
}
