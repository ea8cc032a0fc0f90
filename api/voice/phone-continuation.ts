import type { CallOpener } from "../../engine/calls/call-opener.js";
import { type CallRefusedError, serverStops } from "../../engine/calls/call-refused-error.js";
import {
  CONTINUATION_PATH,
  type Continuations,
  type NextStream,
  placedCallOf,
  SENT_BACK_PARAMETER,
} from "../../engine/calls/continuations.js";
import type { WarmTransfers } from "../../engine/calls/warm-transfers.js";
import type { Logger } from "../../engine/log.js";
import { RequestError } from "../../engine/request-error.js";
import type { StreamClaims } from "../../engine/security/stream-token.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import type { BestEffortCallInfos, CallInfo } from "../../engine/telephony/call-info.js";
import { isCallerThere } from "../../engine/telephony/caller-state.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { onHoldAnswer } from "./on-hold-caller.js";
import { type OtherServer, otherServerAddress } from "./other-server.js";
import { PLACED_CALL_PARAMETER, PLACED_CALL_WAITS } from "./outbound-routes.js";
import { type PhoneCallsOptions, transfersByRest } from "./phone-calls.js";
import {
  connectDocument,
  documentAnswer,
  refusedCall,
  type StreamAddress,
  turnedAway,
} from "./phone-document.js";
import { phoneTenant } from "./phone-tenant.js";
import { requireSignature, SIGNED_HEADERS, type SignatureOptions } from "./require-signature.js";
import { httpBase } from "./stream-address.js";
import { type StreamOpeningOptions, streamTokenFor } from "./stream-opening.js";

/** The vendor's report on a call has some thirty short fields. */
const BODY_BYTES_MAX = 64 * 1024;

const UNSUPPORTED_WORDS = "its audio format is not supported";

export interface PhoneContinuationOptions extends SignatureOptions, StreamOpeningOptions {
  readonly continuations: Continuations;
  readonly opener: Pick<CallOpener, "refusal" | "noteRefusal" | "stopping">;
  readonly callInfos: Pick<BestEffortCallInfos, "find">;
  readonly organizations: Pick<Organizations, "find">;
  readonly answeredWebhooks: WebhookAnswers;
  readonly streamAddress: StreamAddress;
  readonly otherServer: OtherServer;
  readonly callControl: PhoneCallsOptions["callControl"];
  readonly baseUrl: PhoneCallsOptions["baseUrl"];
  readonly transferDials: PhoneCallsOptions["transferDials"];
  readonly warmTransfers: Pick<WarmTransfers, "callerLeft" | "interruptedHold">;
  readonly log: Logger;
}

/**
 * `POST /api/telephony/continue?token=…`: a stream has ended, or never became a call. If the caller is still
 * connected and the call was not ended, the response is another stream, or an instruction to wait for a stopping
 * server; otherwise it hangs up.
 */
export function phoneContinuation(options: PhoneContinuationOptions): Endpoint {
  return {
    method: "post",
    path: CONTINUATION_PATH,
    headerNames: SIGNED_HEADERS,
    readsBody: true,
    bodyBytesMax: BODY_BYTES_MAX,
    isQuiet: false,
    answer: (request) => answer(request, options),
  };
}

async function answer(
  request: IncomingRequest,
  options: PhoneContinuationOptions,
): Promise<Answer> {
  const { continuations, opener, organizations, answeredWebhooks, log } = options;
  const bytes = Buffer.from(await request.body());
  const query = new URLSearchParams(request.queryString);
  const presented = query.get("token") ?? "";
  const transferred = continuations.transferClaimsOf(presented);
  const claims = transferred ?? continuations.claimsOf(presented);
  const found = claims && phoneVendor(claims.vendor);
  if (claims === undefined || found === undefined) {
    throw new RequestError(
      "invalid_token",
      "token: expected that of a call whose stream has ended",
    );
  }
  const { documents, isCallerWaiting = isCallerThere } = found;
  const { vendor, orgId } = claims;
  const signed = await requireSignature(claims, request, CONTINUATION_PATH, bytes, options);
  const body = bytes.toString("utf8");
  const isWaiting = isCallerWaiting(body);
  if (transferred === undefined && !isWaiting) {
    return documentAnswer(documents, documents.hangUp());
  }
  const report = transferred && found.transferReport?.(body);
  const next =
    transferred === undefined
      ? await continuations.next(claims, !(await transfersByRest(claims, options)))
      : await continuations.afterTransfer(
          claims,
          report,
          isWaiting,
          query.has(SENT_BACK_PARAMETER),
        );
  if (transferred !== undefined) {
    await options.warmTransfers.callerLeft(transferred);
    const { result, reason } = report ?? {};
    log.info({ vendor, orgId, result, reason, kind: next.kind }, "the vendor reports a transfer");
    await continuations.stored();
  }
  if (next.kind === "unsupportedAudio") return turnedAway(documents, UNSUPPORTED_WORDS);
  if (next.kind === "onHold" || next.kind === "sentBack") {
    const base = httpBase(request, options.publicBaseUrl);
    const isCertain = next.kind === "sentBack" || next.isCertain;
    const hold = await options.warmTransfers.interruptedHold(claims, base, isCertain);
    return documentAnswer(documents, hold ?? documents.hangUp());
  }
  const tenant = next.kind === "over" ? undefined : await phoneTenant(organizations, orgId);
  if (next.kind === "over" || tenant === undefined) {
    return documentAnswer(documents, documents.hangUp());
  }
  const noteRefusal = (reason: Parameters<CallOpener["noteRefusal"]>[1]) =>
    noteRefusedStream({ tenant, claims, next, reason }, options);
  const refuse = async ({ reason, callerWords: words }: CallRefusedError) =>
    refusedCall(documents, { words, isStored: await noteRefusal(reason) });
  if (opener.stopping && (await options.otherServer()) === undefined) {
    const held = onHoldAnswer(request, CONTINUATION_PATH, documents, options.publicBaseUrl);
    log.info(
      { vendor, orgId, isHeld: held !== undefined },
      "a call lost its stream while the server was stopping",
    );
    return held ?? refuse(serverStops());
  }
  if (next.kind === "transfer") {
    const base = httpBase(request, options.publicBaseUrl);
    const dial = await options.transferDials.of(claims, base, next);
    log.info({ vendor, orgId }, "transferring a caller");
    return documentAnswer(documents, documents.dial?.(dial) ?? documents.hangUp());
  }
  let otherAddress: string | undefined;
  if (next.kind === "askedAgain" || transferred !== undefined) {
    // A refused call would be refused again, and the vendor would repeat the request.
    const request = { tenant, agentId: claims.agentId || undefined };
    const refusal = await opener.refusal(request);
    otherAddress = refusal && (await otherServerAddress(refusal, options.otherServer));
    if (refusal !== undefined && otherAddress === undefined) {
      const isReturning = next.kind === "goesOn";
      const ofCaller = isReturning ? await opener.refusal({ ...request, isReturning }) : refusal;
      if (ofCaller !== undefined) return refuse(ofCaller);
    }
  }
  const streamBase = otherAddress ?? (await options.streamAddress());
  const placedCallId = next.kind === "askedAgain" ? next.placedCallId : undefined;
  const parameters =
    placedCallId === undefined ? {} : { [PLACED_CALL_PARAMETER]: PLACED_CALL_WAITS };
  const deps = { ...options, streamBase, parameters, isNextNamed: true };
  const token = await streamTokenFor(next.claims, options);
  const connect = () => connectDocument(request, documents, next.claims, token, deps);
  const asked = signed && { ...signed, id: `${signed.id} ${claims.callKey} ${claims.attempt}` };
  const document =
    asked === undefined ? connect() : await answeredWebhooks.answerTo(asked, connect);
  if (document === undefined) await noteRefusal("rateLimited");
  const { attempt } = next.claims;
  log.info({ vendor, orgId, attempt, kind: next.kind }, "a call continues on a new stream");
  return documentAnswer(documents, document ?? documents.hangUp());
}

interface RefusedStream {
  readonly tenant: Tenant;
  readonly claims: StreamClaims;
  readonly next: NextStream;
  readonly reason: Parameters<CallOpener["noteRefusal"]>[1];
}

/**
 * Records a caller who gets no stream: as a call of its own if the stream before it has a record, otherwise as the
 * end of the call whose stream never arrived. A placed call without a record gets one when its vendor reports its
 * end, and a call that was to be transferred already has its terminal event. False: its event is not stored in time.
 */
async function noteRefusedStream(
  { tenant, claims, next, reason }: RefusedStream,
  { opener, continuations, callInfos }: PhoneContinuationOptions,
): Promise<boolean> {
  if (next.kind === "transfer") return true;
  if (next.kind === "askedAgain" && next.placedCallId !== undefined) return true;
  const { agentId, vendor: phoneVendorName, callerRef } = claims;
  const refused = next.kind === "goesOn" ? next.claims : claims;
  const { sessionId: callId } = continuations.conversationOf(refused);
  const kept = await callInfos.find(claims);
  const direction = placedCallOf(claims.callKey) === undefined ? "inbound" : "outbound";
  const callInfo: CallInfo = {
    ...(kept ?? { direction }),
    phoneVendor: phoneVendorName,
    ...(callerRef !== "" && { phoneCallId: callerRef }),
  };
  return opener.noteRefusal(
    { tenant, agentId: agentId || undefined, channel: "phone", callInfo, callId },
    reason,
  );
}
