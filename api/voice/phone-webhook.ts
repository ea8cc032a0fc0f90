import type { CallOpener } from "../../engine/calls/call-opener.js";
import type { CallRefusedError } from "../../engine/calls/call-refused-error.js";
import type { Continuations } from "../../engine/calls/continuations.js";
import type { TelephonyAccounts } from "../../engine/calls/telephony-accounts.js";
import type { Logger } from "../../engine/log.js";
import { RequestError } from "../../engine/request-error.js";
import { newCallKey } from "../../engine/security/stream-token.js";
import type { WebhookAnswers } from "../../engine/telephony/answered-webhooks.js";
import { type BestEffortCallInfos, callInfoOf } from "../../engine/telephony/call-info.js";
import type { CallInstructions } from "../../engine/telephony/call-instructions.js";
import {
  mergedValues,
  VARIABLE_CHARACTERS_MAX,
  VARIABLE_NAME,
  VARIABLES_MAX,
  type Variables,
} from "../../engine/telephony/call-values.js";
import { DEFAULT_PHONE_VENDOR, phoneVendor } from "../../engine/telephony/phone-vendors.js";
import { webhookField } from "../../engine/telephony/webhook-field.js";
import type { PhoneNumbers } from "../../engine/tenancy/agents/phone-numbers.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import { accessRefusal, type Tenant } from "../../engine/tenancy/tenant.js";
import type { TelephonyAccountRecord } from "../../storage/records.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { CREDENTIAL_HEADERS, shownApiKey } from "../http/request/authentication.js";
import { addressGroup } from "../http/request/client-address.js";
import type { UseLimiter } from "../http/request/rate-limiter.js";
import { onHoldAnswer } from "./on-hold-caller.js";
import { type OtherServer, otherServerAddress } from "./other-server.js";
import {
  connectDocument,
  DIALS_TRANSFERS,
  documentAnswer,
  refusedCall,
  type StreamAddress,
  turnedAway,
} from "./phone-document.js";
import { phoneTenant } from "./phone-tenant.js";
import {
  requireSignature,
  SIGNED_HEADERS,
  type SignatureOptions,
  type SignedRequest,
} from "./require-signature.js";
import { type StreamOpeningOptions, streamTokenFor } from "./stream-opening.js";

const WEBHOOK_PATH = "/api/telephony/voice";
const NO_SUCH_NUMBER = "this number is not in service";
const VARIABLE_PREFIX = "var.";
const TOO_MANY_CALLS = "too many calls within a minute";

export interface PhoneWebhookOptions extends SignatureOptions, StreamOpeningOptions {
  readonly apiKeys: ApiKeys;
  readonly organizations: Pick<Organizations, "find">;
  readonly phoneNumbers: Pick<PhoneNumbers, "findCalled">;
  readonly telephonyAccounts: Pick<TelephonyAccounts, "named" | "webhookKeysOf">;
  readonly opener: CallOpener;
  readonly continuations: Pick<Continuations, "tokenFor" | "refusedCallId">;
  readonly callInfos: Pick<BestEffortCallInfos, "keep">;
  readonly answeredWebhooks: WebhookAnswers;
  readonly streamAddress: StreamAddress;
  readonly otherServer: OtherServer;
  /** The vendors whose calls are accepted. */
  readonly telephonyVendors: readonly string[];
  /** By key; and by address, for clients that guess keys. */
  readonly requestLimiter: UseLimiter;
  readonly log: Logger;
}

/**
 * `POST /api/telephony/voice?[api_key=…][&agent_id=…][&vendor=…][&account=…][&continue=yes|transfer][&var.name=value]`:
 * the vendor requests instructions for a call, and receives a document that opens a media stream here. Without a key,
 * the vendor's signature authenticates the request, and the called number identifies the organization. The stream
 * gets a token that is valid for one stream and one minute, never the API key.
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
  const own = await ownAccountIn(query, vendor, options);
  const account = { vendor, orgId: own?.orgId ?? "", ownAccount: own !== undefined };
  const signed = await requireSignature(account, request, WEBHOOK_PATH, bytes, options);
  if (signed?.signsQuery === false && query.has("agent_id")) throw unsignedAgent(vendor);
  const variables = variablesIn(query, signed?.signsQuery === true);
  const body = bytes.toString("utf8");
  const callInfo = callInfoOf(body, found.callInfoFields);
  const asked = { request, query, vendor, own, signed, calledNumber: callInfo.to };
  const recipient = await recipientOf(asked, options);
  if (recipient === undefined) {
    options.log.warn({ vendor }, "a call to a number that no organization has");
    return turnedAway(documents, NO_SUCH_NUMBER);
  }
  const { tenant, agentId } = recipient;
  const { id: orgId } = tenant.organization;
  const callerRef = callIdField === undefined ? "" : webhookField(body, callIdField);
  const refuse = async (reason: Parameters<CallOpener["noteRefusal"]>[1], words: string) => {
    const callId = options.continuations.refusedCallId({ vendor, orgId, callerRef });
    const call = { tenant, agentId, channel: "phone", callInfo, callId } as const;
    const isStored = await options.opener.noteRefusal(call, reason);
    return refusedCall(documents, { words, isStored });
  };
  const limited = tenant.apiKeyId === undefined ? `numbers ${orgId}` : `key ${tenant.apiKeyId}`;
  if ((await options.requestLimiter.take(limited)) > 0) {
    options.log.warn({ orgId }, "too many calls for one API key or organization");
    return refuse("rateLimited", TOO_MANY_CALLS);
  }
  const refusal = await options.opener.refusal({ tenant, agentId });
  const otherAddress = refusal && (await otherServerAddress(refusal, options.otherServer));
  if (refusal !== undefined && otherAddress === undefined) {
    const held = ringingHere(request, recipient, documents, refusal, options);
    const { reason, message: detail } = refusal;
    const isHeld = held !== undefined;
    options.log.info({ orgId, reason, detail, isHeld }, "a telephone call was refused");
    return held ?? refuse(reason, refusal.callerWords);
  }
  const following = query.get("continue");
  const claims = {
    vendor,
    orgId,
    agentId: agentId ?? "",
    callerRef,
    callKey: newCallKey(),
    attempt: 0,
    ...(following === DIALS_TRANSFERS && { dialsTransfers: true }),
    ...(own !== undefined && { ownAccount: true }),
  } as const;
  const token = await streamTokenFor(claims, options);
  const { apiKeyId } = tenant;
  const known = {
    ...callInfo,
    ...mergedValues({ variables }),
    ...(apiKeyId !== undefined && { apiKeyId }),
  };
  // A vendor that requests a document waits for it.
  const { signal: never } = new AbortController();
  const values = await options.opener.preCall({ tenant, agentId }, { callInfo: known }, never);
  await options.callInfos.keep(claims, { ...known, ...mergedValues(known, values) });
  const streamBase = otherAddress ?? (await options.streamAddress());
  const isNextNamed =
    found.namesNextOnRequest !== true || ["yes", DIALS_TRANSFERS].includes(following ?? "");
  const deps = { ...options, streamBase, isNextNamed };
  const connect = () => connectDocument(request, documents, claims, token, deps);
  const answered =
    signed === undefined ? connect() : await options.answeredWebhooks.answerTo(signed, connect);
  if (answered === undefined) {
    options.log.warn({ vendor }, "too many signed webhooks within their validity period");
    return refuse("rateLimited", TOO_MANY_CALLS);
  }
  return documentAnswer(documents, answered);
}

interface VerifiedWebhook {
  readonly request: IncomingRequest;
  readonly query: URLSearchParams;
  readonly vendor: string;
  /** The organization's own account that the address names. */
  readonly own: TelephonyAccountRecord | undefined;
  readonly signed: SignedRequest | undefined;
  readonly calledNumber: string | undefined;
}

interface Recipient {
  readonly tenant: Tenant;
  /** Undefined: the first active one. */
  readonly agentId: string | undefined;
  /** Whether the address alone, requested again, has the same result. */
  readonly isInAddress: boolean;
}

/**
 * The recipient of the call: the key's organization, or the one that has the called number. Undefined if none has
 * it.
 */
async function recipientOf(
  asked: VerifiedWebhook,
  options: PhoneWebhookOptions,
): Promise<Recipient | undefined> {
  const { request, query, vendor, own, signed, calledNumber } = asked;
  const hasKey = shownApiKey((name) => request.header(name), query.get("api_key") ?? "") !== "";
  const findNumber = async () =>
    calledNumber === undefined ? undefined : options.phoneNumbers.findCalled(calledNumber, vendor);
  if (hasKey || signed?.isProof !== true) {
    const tenant = await authenticate(request, query, options);
    if (own !== undefined && own.orgId !== tenant.organization.id) throw noSuchAccount();
    const isInAddress = query.has("api_key");
    const named = query.get("agent_id");
    if (named !== null) return { tenant, agentId: named, isInAddress };
    const number = await findNumber();
    // A client with a key could name any number.
    const isTheirs = number?.orgId === tenant.organization.id;
    return { tenant, agentId: (isTheirs ? number.agentId : null) ?? undefined, isInAddress };
  }
  const number = await findNumber();
  if (number === undefined) return undefined;
  const { orgId, accountId } = number;
  // An account signs for its own organization alone, and what is in an organization's account is not in the installation's.
  const isTheirs = own === undefined ? accountId === null : orgId === own.orgId;
  if (!isTheirs) return undefined;
  const tenant = await phoneTenant(options.organizations, orgId);
  const agentId = query.get("agent_id") ?? number.agentId ?? undefined;
  return tenant && { tenant, agentId, isInAddress: true };
}

/** The account in the address; undefined where it names none. RequestError for one that is not there. */
async function ownAccountIn(
  query: URLSearchParams,
  vendor: string,
  { telephonyAccounts }: PhoneWebhookOptions,
): Promise<TelephonyAccountRecord | undefined> {
  const id = query.get("account");
  if (id === null) return undefined;
  const account = await telephonyAccounts.named(id, vendor);
  if (account === undefined) throw noSuchAccount();
  return account;
}

function noSuchAccount(): RequestError {
  const message = "expected the id of a telephony account at the vendor";
  return new RequestError("invalid_request", `account: ${message}`);
}

/** The next start of this server takes the caller, whose vendor repeats the request at the same address. */
function ringingHere(
  request: IncomingRequest,
  { isInAddress }: Recipient,
  documents: CallInstructions,
  { reason }: CallRefusedError,
  { publicBaseUrl }: PhoneWebhookOptions,
): Answer | undefined {
  if (reason !== "serverStopping" || !isInAddress) return undefined;
  return onHoldAnswer(request, WEBHOOK_PATH, documents, publicBaseUrl);
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
  const message = `${vendor} does not sign the address, so an agent named in it is not trusted; leave it out`;
  return new RequestError("invalid_request", `agent_id: ${message}`);
}
