import type { OutboundCalls } from "../../engine/calls/outbound-calls.js";
import { ANSWER_PATH, STATUS_PATH } from "../../engine/calls/outbound-telephony.js";
import { Failure } from "../../engine/failure.js";
import type { StreamTokens } from "../../engine/security/stream-token.js";
import { DEFAULT_PHONE_VENDOR } from "../../engine/telephony/phone-vendors.js";
import { sayAndHangUp, twilioConnect } from "../../engine/telephony/twilio/twiml.js";
import type { Answer } from "../http/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoint.js";
import { STREAM_PATH, socketBase } from "./stream-address.js";
import { demandSignature, SIGNED_HEADERS, type SignatureOptions } from "./webhook-signature.js";

/** A report has some thirty short fields. */
const BODY_BYTES_MAX = 64 * 1024;
const CALL_REF = /^CA[0-9a-f]{32}$/i;
/** The stream's parameter that names the placed call. */
export const PLACED_CALL_PARAMETER = "call";

export interface OutboundDoorsOptions extends SignatureOptions {
  readonly outbound: OutboundCalls;
  readonly streamTokens: StreamTokens;
}

/** What the vendor asks and tells of placed calls, each with the call's signed token in place of an API key. */
export function outboundDoors(options: OutboundDoorsOptions): readonly Endpoint[] {
  return [
    door(ANSWER_PATH, options, (request, token, form) =>
      Promise.resolve(answered(request, token, form, options)),
    ),
    door(STATUS_PATH, options, (_request, token, form) => reported(token, form, options)),
  ];
}

type Serve = (request: IncomingRequest, token: string, form: URLSearchParams) => Promise<Answer>;

function door(path: string, options: OutboundDoorsOptions, serve: Serve): Endpoint {
  return {
    method: "post",
    path,
    headerNames: SIGNED_HEADERS,
    readsBody: true,
    bodyBytesMax: BODY_BYTES_MAX,
    isQuiet: false,
    answer: async (request) => {
      const body = Buffer.from(await request.body());
      await demandSignature(DEFAULT_PHONE_VENDOR, request, path, body, options);
      const token = new URLSearchParams(request.queryString).get("token") ?? "";
      return serve(request, token, new URLSearchParams(body.toString("utf8")));
    },
  };
}

/** Somebody answers: their audio comes here. */
function answered(
  request: IncomingRequest,
  token: string,
  form: URLSearchParams,
  { outbound, streamTokens, publicBaseUrl }: OutboundDoorsOptions,
): Answer {
  const claims = outbound.answering(token);
  if (claims === undefined) return document(sayAndHangUp({ text: "This call is over. Goodbye." }));
  const { callId, orgId, agentId } = claims;
  const callSid = form.get("CallSid") ?? "";
  const callerRef = CALL_REF.test(callSid) ? callSid : "";
  const parameters = {
    token: streamTokens.mint({ vendor: DEFAULT_PHONE_VENDOR, orgId, agentId, callerRef }),
    [PLACED_CALL_PARAMETER]: callId,
  };
  const url = `${socketBase(request, publicBaseUrl)}${STREAM_PATH}`;
  return document(twilioConnect({ url, parameters }));
}

async function reported(
  token: string,
  form: URLSearchParams,
  { outbound }: OutboundDoorsOptions,
): Promise<Answer> {
  const status = form.get("CallStatus") ?? "";
  const answeredBy = form.get("AnsweredBy") ?? "";
  if (!(await outbound.report(token, { status, answeredBy }))) {
    throw new Failure("unauthenticated", "token: expected that of a placed call");
  }
  return { status: 204, contentType: "", body: "" };
}

function document(body: string): Answer {
  return { status: 200, contentType: "text/xml; charset=utf-8", body };
}
