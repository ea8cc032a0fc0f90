import type { CallOpener } from "../../engine/calls/call-opener.js";
import type { CallRefusedError } from "../../engine/calls/call-refused-error.js";
import type { Continuations } from "../../engine/calls/continuations.js";
import type { Logger } from "../../engine/log.js";
import { RequestError } from "../../engine/request-error.js";
import { newCallKey } from "../../engine/security/stream-token.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import type { CallDocuments } from "../../engine/telephony/call-documents.js";
import { type BestEffortCallInfos, callInfoOf } from "../../engine/telephony/call-info.js";
import {
  mergedValues,
  VARIABLE_CHARACTERS_MAX,
  VARIABLE_NAME,
  VARIABLES_MAX,
  type Variables,
} from "../../engine/telephony/call-values.js";
import { DEFAULT_PHONE_VENDOR, phoneVendor } from "../../engine/telephony/phone-vendors.js";
import { webhookField } from "../../engine/telephony/webhook-field.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import { accessRefusal, type Tenant } from "../../engine/tenancy/tenant.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { CREDENTIAL_HEADERS, shownApiKey } from "../http/request/authentication.js";
import { addressGroup } from "../http/request/client-address.js";
import type { UseLimiter } from "../http/request/rate-limiter.js";
import { heldAnswer } from "./held-caller.js";
import { addressElsewhere, type OtherServer } from "./other-server.js";
import {
  connectDocument,
  documentAnswer,
  type StreamAddress,
  turnedAway,
} from "./phone-document.js";
import { type StreamOpeningOptions, streamTokenFor } from "./stream-opening.js";
import { requireSignature, SIGNED_HEADERS, type SignatureOptions } from "./webhook-signature.js";

const WEBHOOK_PATH = "/api/telephony/voice";
const VARIABLE_PREFIX = "var.";
const TOO_MANY_CALLS = "too many calls came within a minute";

export interface PhoneWebhookOptions extends SignatureOptions, StreamOpeningOptions {
  readonly apiKeys: ApiKeys;
  readonly opener: CallOpener;
  readonly continuations: Pick<Continuations, "tokenFor">;
  readonly callInfos: Pick<BestEffortCallInfos, "keep">;
  readonly answeredWebhooks: WebhookAnswers;
  readonly streamAddress: StreamAddress;
  readonly elsewhere: OtherServer;
  /** Whose calls are taken. */
  readonly telephonyVendors: readonly string[];
  /** By key; and by address, of whoever tries keys. */
  readonly requestLimiter: UseLimiter;
  readonly log: Logger;
}

/**
 * `POST /api/telephony/voice?api_key=…[&agent_id=…][&vendor=…][&continue=yes][&var.name=value]`: the vendor asks what to do with a call, and is told to
 * open a media stream here. The stream gets a token that is good for one stream and a minute, never the API key.
 */
export function phoneWebhook(options: PhoneWebhookOptions): Endpoint {
  return {
    method: "post",
    path: WEBHOOK_PATH,
    headerNames: [...CREDENTIAL_HEADERS, ...SIGNED_HEADERS],
    readsBody: true,
    isQuiet: false,
    answer: (request) => answer(request, options),
  };
}

async function answer(request: IncomingRequest, options: PhoneWebhookOptions): Promise<Answer> {
  const query = new URLSearchParams(request.queryString);
  const vendor = query.get("vendor") ?? DEFAULT_PHONE_VENDOR;
  const { telephonyVendors } = options;
  const found = telephonyVendors.includes(vendor) ? phoneVendor(vendor) : undefined;
  if (found === undefined) {
    throw new RequestError(
      "invalid_request",
      `vendor: expected one of ${telephonyVendors.join(", ")}`,
    );
  }
  const { documents, callIdField } = found;
  const bytes = Buffer.from(await request.body());
  const signed = await requireSignature(vendor, request, WEBHOOK_PATH, bytes, options);
  if (signed?.signsQuery === false && query.has("agent_id")) throw unsignedAgent(vendor);
  const variables = variablesIn(query, signed?.signsQuery === true);
  const body = bytes.toString("utf8");
  const tenant = await authenticate(request, query, options);
  if ((await options.requestLimiter.take(`key ${tenant.apiKeyId}`)) > 0) {
    options.log.warn({ orgId: tenant.organization.id }, "too many calls came for one API key");
    return turnedAway(documents, TOO_MANY_CALLS);
  }
  const agentId = query.get("agent_id") ?? undefined;
  const refusal = await options.opener.refusal({ tenant, agentId });
  const otherAddress = refusal && (await addressElsewhere(refusal, options.elsewhere));
  if (refusal !== undefined && otherAddress === undefined) {
    const held = heldHere(request, query, documents, refusal, options);
    const { reason, message: detail } = refusal;
    const orgId = tenant.organization.id;
    const isHeld = held !== undefined;
    options.log.info({ orgId, reason, detail, isHeld }, "a telephone call was refused");
    if (!isHeld) {
      const callInfo = callInfoOf(body, found.callInfoFields);
      options.opener.noteRefusal({ tenant, agentId, channel: "phone", callInfo }, refusal);
    }
    return held ?? turnedAway(documents, refusal.callerWords);
  }
  const callId = callIdField === undefined ? "" : webhookField(body, callIdField);
  const claims = {
    vendor,
    orgId: tenant.organization.id,
    agentId: agentId ?? "",
    callerRef: callId,
    callKey: newCallKey(),
    attempt: 0,
  };
  const token = await streamTokenFor(claims, options);
  const { apiKeyId } = tenant;
  const callInfo = {
    ...callInfoOf(body, found.callInfoFields),
    ...mergedValues({ variables }),
    ...(apiKeyId !== undefined && { apiKeyId }),
  };
  // A vendor that asks for a document waits for it.
  const { signal: never } = new AbortController();
  const values = await options.opener.preCall({ tenant, agentId }, { callInfo }, never);
  await options.callInfos.keep(claims, { ...callInfo, ...mergedValues(callInfo, values) });
  const streamBase = otherAddress ?? (await options.streamAddress());
  const isNextNamed = found.namesNextOnRequest !== true || query.get("continue") === "yes";
  const deps = { ...options, streamBase, isNextNamed };
  const connect = () => connectDocument(request, documents, claims, token, deps);
  const answered =
    signed === undefined ? connect() : await options.answeredWebhooks.answerTo(signed, connect);
  if (answered === undefined) {
    options.log.warn({ vendor }, "too many signed webhooks came within their time");
    return turnedAway(documents, TOO_MANY_CALLS);
  }
  return documentAnswer(documents, answered);
}

/** The next start of this server takes the caller, whose vendor asks again with the key that stands in the address. */
function heldHere(
  request: IncomingRequest,
  query: URLSearchParams,
  documents: CallDocuments,
  { reason }: CallRefusedError,
  { publicBaseUrl }: PhoneWebhookOptions,
): Answer | undefined {
  if (reason !== "serverStopping" || !query.has("api_key")) return undefined;
  return heldAnswer(request, WEBHOOK_PATH, documents, publicBaseUrl);
}

async function authenticate(
  request: IncomingRequest,
  query: URLSearchParams,
  { apiKeys, requestLimiter }: PhoneWebhookOptions,
): Promise<Tenant> {
  const apiKey = shownApiKey((name) => request.header(name), query.get("api_key") ?? "");
  const tenant = apiKey === "" ? undefined : await apiKeys.authenticate(apiKey);
  if (tenant === undefined) {
    const retryAfterSec = await requestLimiter.take(
      `address ${addressGroup(request.clientAddress)}`,
    );
    if (retryAfterSec > 0) {
      throw new RequestError("rate_limited", `too many requests: try again in ${retryAfterSec} s`, {
        retryAfterSec,
      });
    }
    throw new RequestError(
      "invalid_api_key",
      "api_key: expected a valid API key that is not revoked",
    );
  }
  const refusal = accessRefusal(tenant, "voice");
  if (refusal !== undefined) throw refusal;
  return tenant;
}

/** Values for the agent's variables. Only a signature proves that they are not the caller's own. */
function variablesIn(query: URLSearchParams, isSigned: boolean): Variables {
  const given = [...query].filter(([key]) => key.startsWith(VARIABLE_PREFIX));
  const [first] = given;
  if (first === undefined) return {};
  if (!isSigned) {
    throw invalid(first[0], "expected a request whose address the vendor has signed");
  }
  if (given.length > VARIABLES_MAX) {
    throw invalid("var", `expected at most ${VARIABLES_MAX} variables`);
  }
  for (const [key, value] of given) {
    if (!VARIABLE_NAME.test(key.slice(VARIABLE_PREFIX.length))) {
      throw invalid(
        key.slice(0, 60),
        "expected a name of a letter and up to 39 letters, digits and underscores",
      );
    }
    if (value.length > VARIABLE_CHARACTERS_MAX) {
      throw invalid(key, `expected text of at most ${VARIABLE_CHARACTERS_MAX} characters`);
    }
  }
  return Object.fromEntries(
    given.map(([key, value]) => [key.slice(VARIABLE_PREFIX.length), value]),
  );
}

function invalid(field: string, message: string): RequestError {
  return new RequestError("invalid_request", `${field}: ${message}`);
}

function unsignedAgent(vendor: string): RequestError {
  const message = `${vendor} does not sign the address, so an agent that is named there is not believed; leave it out`;
  return new RequestError("invalid_request", `agent_id: ${message}`);
}
