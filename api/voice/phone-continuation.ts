import type { CallOpener } from "../../engine/calls/call-opener.js";
import type { Continuations } from "../../engine/calls/continuations.js";
import { Failure } from "../../engine/failure.js";
import type { Logger } from "../../engine/log.js";
import type { StreamTokenDesk } from "../../engine/security/stream-token.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Answer } from "../http/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoint.js";
import {
  CONTINUATION_PATH,
  connectDocument,
  documentAnswer,
  type StreamAddress,
  turnedAway,
} from "./phone-document.js";
import { phoneTenant } from "./phone-tenant.js";
import { demandSignature, SIGNED_HEADERS, type SignatureOptions } from "./webhook-signature.js";

/** The vendor's report on a call has some thirty short fields. */
const BODY_BYTES_MAX = 64 * 1024;
/** What a vendor says of a call whose caller is gone. */
const OVER = new Set(["completed", "busy", "failed", "no-answer", "canceled"]);

export interface PhoneContinuationOptions extends SignatureOptions {
  readonly continuations: Continuations;
  readonly opener: Pick<CallOpener, "refusal">;
  readonly organizations: Pick<Organizations, "find">;
  readonly streamTokens: StreamTokenDesk;
  readonly answeredWebhooks: WebhookAnswers;
  readonly streamAddress: StreamAddress;
  readonly log: Logger;
}

/**
 * `POST /api/telephony/continue?token=…`: a stream has ended, or came to nobody. Where the caller is still there and nobody
 * ended the call, the answer is another stream; otherwise it hangs up.
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
  const { continuations, opener, organizations, streamTokens, answeredWebhooks, log } = options;
  const bytes = Buffer.from(await request.body());
  const claims = continuations.claimsOf(
    new URLSearchParams(request.queryString).get("token") ?? "",
  );
  const documents = claims && phoneVendor(claims.vendor)?.documents;
  if (claims === undefined || documents?.hangUp === undefined) {
    throw new Failure("unauthenticated", "token: expected that of a call whose stream has ended");
  }
  const { vendor, orgId } = claims;
  const signed = await demandSignature(vendor, request, CONTINUATION_PATH, bytes, options);
  const status = new URLSearchParams(bytes.toString("utf8")).get("CallStatus") ?? "";
  if (OVER.has(status)) return documentAnswer(documents, documents.hangUp());
  const next = await continuations.next(claims);
  const tenant = next.kind === "over" ? undefined : await phoneTenant(organizations, orgId);
  if (next.kind === "over" || tenant === undefined) {
    return documentAnswer(documents, documents.hangUp());
  }
  if (next.kind === "askedAgain") {
    // What was refused would be refused again; the vendor would ask again, too.
    const refusal = await opener.refusal({ tenant, agentId: claims.agentId || undefined });
    if (refusal !== undefined) return turnedAway(documents, refusal.message);
  }
  const around = { ...options, streamBase: await options.streamAddress() };
  const token = streamTokens.mint(next.claims);
  const connect = () => connectDocument(request, documents, next.claims, { token }, around);
  const body = signed === undefined ? connect() : await answeredWebhooks.answerTo(signed, connect);
  const { attempt } = next.claims;
  log.info({ vendor, orgId, attempt, kind: next.kind }, "a call that broke goes on");
  return documentAnswer(documents, body ?? documents.hangUp());
}
