import { type Continuations, placedCallKey } from "../../engine/calls/continuations.js";
import { ANSWER_PATH, STATUS_PATH } from "../../engine/calls/outbound/outbound-telephony.js";
import type { PlacedCalls } from "../../engine/calls/outbound/placed-calls.js";
import { RequestError } from "../../engine/request-error.js";
import type { OutboundClaims, OutboundTokens } from "../../engine/security/outbound-token.js";
import type { StreamTokenRegistry } from "../../engine/security/stream-token.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import { callInfoOf } from "../../engine/telephony/call-info.js";
import type { PhoneVendor } from "../../engine/telephony/phone-vendor.js";
import { webhookField } from "../../engine/telephony/webhook-field.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint } from "../http/endpoints/endpoint.js";
import {
  connectDocument,
  DIALS_TRANSFERS,
  documentAnswer,
  type StreamAddress,
} from "./phone-document.js";
import { type SignatureOptions, type VendorRequest, vendorRoute } from "./require-signature.js";

/**
 * The stream's parameter for a placed call that waits for this stream. Its key identifies the call; vendors limit
 * the contents of parameters, and Plivo passes on letters and digits only.
 */
export const PLACED_CALL_PARAMETER = "call";
export const PLACED_CALL_WAITS = "1";
const OVER_WORDS = "This call is over. Goodbye.";

export interface OutboundRoutesOptions extends SignatureOptions {
  readonly outbound: PlacedCalls;
  readonly outboundTokens: Pick<OutboundTokens, "verify">;
  readonly continuations: Pick<Continuations, "tokenFor">;
  readonly streamTokens: StreamTokenRegistry;
  readonly answeredWebhooks: WebhookAnswers;
  readonly streamAddress: StreamAddress;
}

/** The vendor's requests and reports about placed calls, each with the call's signed token instead of an API key. */
export function outboundRoutes(options: OutboundRoutesOptions): readonly Endpoint[] {
  return [
    route(ANSWER_PATH, options, (call) => answered(call, options)),
    route(STATUS_PATH, options, (call) => reported(call, options)),
  ];
}

type Serve = (placed: VendorRequest<OutboundClaims>) => Promise<Answer>;

function route(path: string, options: OutboundRoutesOptions, serve: Serve): Endpoint {
  const { outboundTokens } = options;
  const claimsOf = (token: string) => outboundTokens.verify(token);
  const accountOf = (claims: OutboundClaims) => claims;
  return vendorRoute({ path, claimsOf, accountOf, wrongToken: notPlaced, serve }, options);
}

/** The call was answered: its audio is sent here. */
async function answered(
  { request, signed, token, vendor: found, body }: VendorRequest<OutboundClaims>,
  options: OutboundRoutesOptions,
): Promise<Answer> {
  const { outbound, streamTokens, answeredWebhooks, streamAddress } = options;
  const { documents } = found;
  const callIsOver = () => documentAnswer(documents, documents.farewell({ text: OVER_WORDS }));
  const claims = await outbound.answering(token);
  if (claims === undefined) return callIsOver();
  const { callId, orgId, agentId, vendor } = claims;
  const callerRef = callRefIn(body, found);
  const parameters = { [PLACED_CALL_PARAMETER]: PLACED_CALL_WAITS };
  const streamBase = await streamAddress();
  const deps = { ...options, streamBase, parameters, isNextNamed: true };
  const connect = () => {
    const callKey = placedCallKey(callId);
    const isDialing = webhookField(body, "continue") === DIALS_TRANSFERS;
    const stream = {
      vendor,
      orgId,
      agentId,
      callerRef,
      callKey,
      attempt: 0,
      ...(isDialing && { dialsTransfers: true }),
      ...(claims.ownAccount === true && { ownAccount: true }),
    };
    return connectDocument(request, documents, stream, streamTokens.mint(stream), deps);
  };
  const answer =
    signed === undefined ? connect() : await answeredWebhooks.answerTo(signed, connect);
  return answer === undefined ? callIsOver() : documentAnswer(documents, answer);
}

async function reported(
  { token, claims, vendor: found, body }: VendorRequest<OutboundClaims>,
  { outbound }: OutboundRoutesOptions,
): Promise<Answer> {
  const report = found.placedReport?.(body);
  if (claims === undefined || report === undefined) throw notPlaced();
  const phoneCallId = callRefIn(body, found);
  const callInfo = {
    ...callInfoOf(body, found.callInfoFields),
    direction: "outbound",
    phoneVendor: claims.vendor,
    ...(phoneCallId !== "" && { phoneCallId }),
  } as const;
  if (!(await outbound.report(token, { ...report, callInfo }))) throw notPlaced();
  return { status: 204, contentType: "", body: "" };
}

/** The vendor's id of the call; empty if its requests contain none. */
function callRefIn(body: string, { callIdField }: PhoneVendor): string {
  return callIdField === undefined ? "" : webhookField(body, callIdField);
}

function notPlaced(): RequestError {
  return new RequestError("invalid_token", "token: expected that of a placed call");
}
