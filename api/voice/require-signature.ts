import type { TelephonyAccounts } from "../../engine/calls/telephony-accounts.js";
import { RequestError } from "../../engine/request-error.js";
import type { WebhookIdentity } from "../../engine/telephony/answered-webhooks.js";
import type { CallAccount } from "../../engine/telephony/call-control.js";
import type { PhoneVendor } from "../../engine/telephony/phone-vendor.js";
import {
  DEFAULT_PHONE_VENDOR,
  phoneVendor,
  SIGNATURE_HEADERS,
} from "../../engine/telephony/phone-vendors.js";
import type { WebhookKeys } from "../../engine/telephony/telephony-settings.js";
import type { SignedWebhook } from "../../engine/telephony/webhook-signature.js";
import type { Clock } from "../../engine/time/clock.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { httpBase } from "./stream-address.js";

export interface SignatureOptions {
  readonly publicBaseUrl: string | undefined;
  /** A vendor with a key here must sign requests about calls of the installation's account. */
  readonly webhookKeys: WebhookKeys;
  /** As `webhookKeys`, of organizations' own accounts. */
  readonly telephonyAccounts: Pick<TelephonyAccounts, "webhookKeysOf">;
  /** A vendor with a key only here need not sign, but an existing signature must be valid. */
  readonly optionalWebhookKeys?: Partial<WebhookKeys> | undefined;
  readonly clock: Clock;
}

/** The headers that an endpoint has to keep for `requireSignature`. */
export const SIGNED_HEADERS: readonly string[] = ["host", ...SIGNATURE_HEADERS];

/** What a vendor has signed. */
export interface SignedRequest extends WebhookIdentity {
  readonly signsQuery: boolean;
  /** False for a public key, the sandbox's: anyone could have signed. */
  readonly isProof: boolean;
}

/**
 * Rejects with a RequestError if the vendor did not sign this. Undefined if no signature is required. The endpoint
 * keeps SIGNED_HEADERS.
 */
export async function requireSignature(
  account: CallAccount,
  request: IncomingRequest,
  path: string,
  body: Buffer,
  options: SignatureOptions,
): Promise<SignedRequest | undefined> {
  const { publicBaseUrl, telephonyAccounts, clock } = options;
  const { vendor } = account;
  const isOwn = account.ownAccount === true;
  const webhookKeys = isOwn ? await telephonyAccounts.webhookKeysOf(account) : options.webhookKeys;
  const optionalWebhookKeys = isOwn ? undefined : options.optionalWebhookKeys;
  const signature = phoneVendor(vendor)?.signature;
  if (signature === undefined) return undefined;
  const isThere = signature.headerNames.some((name) => request.header(name) !== "");
  const optionalKey = isThere ? signature.keyOf(optionalWebhookKeys ?? {}) : undefined;
  const key = signature.keyOf(webhookKeys) ?? optionalKey;
  if (key === undefined) return undefined;
  const base = httpBase(request, publicBaseUrl);
  const webhook: SignedWebhook = {
    url: `${base}${path}${request.queryString === "" ? "" : `?${request.queryString}`}`,
    body,
    nowMs: clock.epochMs(),
    header: (name) => request.header(name),
  };
  if (!(await signature.check(key, webhook))) {
    throw new RequestError("invalid_signature", `${signature.header} does not match the request`);
  }
  const { id, isUnique } = signature.identity(webhook);
  const isProof = signature.keyOf(webhookKeys) !== undefined;
  const whose = isOwn ? `${vendor} ${account.orgId}` : vendor;
  return { id: `${whose} ${id}`, isUnique, signsQuery: signature.signsQuery, isProof };
}

/** A vendor's report has some thirty short fields, and recognized speech a few hundred characters. */
const BODY_BYTES_MAX = 64 * 1024;

/** A vendor's request whose signature has been checked. */
export interface VendorRequest<Claims> {
  readonly request: IncomingRequest;
  readonly signed: SignedRequest | undefined;
  readonly query: URLSearchParams;
  readonly token: string;
  /** Undefined for a token that is wrong or expired. */
  readonly claims: Claims | undefined;
  readonly vendor: PhoneVendor;
  readonly body: string;
}

export interface VendorRoute<Claims> {
  readonly path: string;
  readonly claimsOf: (token: string) => Claims | undefined;
  readonly accountOf: (claims: Claims) => CallAccount;
  /** The error for a token that names no vendor of this release. */
  readonly wrongToken: () => RequestError;
  /** Some vendors ask every second, and a line of the log for each would hide the others. */
  readonly isQuiet?: true;
  readonly serve: (request: VendorRequest<Claims>) => Promise<Answer>;
}

/**
 * An endpoint for a vendor's signed requests, each with a token of ours in its address. The token names the account whose
 * signature is required.
 */
export function vendorRoute<Claims>(
  { path, claimsOf, accountOf, wrongToken, isQuiet, serve }: VendorRoute<Claims>,
  options: SignatureOptions,
): Endpoint {
  return {
    method: "post",
    path,
    headerNames: SIGNED_HEADERS,
    readsBody: true,
    bodyBytesMax: BODY_BYTES_MAX,
    isQuiet: isQuiet === true,
    answer: async (request) => {
      const bytes = Buffer.from(await request.body());
      const query = new URLSearchParams(request.queryString);
      const token = query.get("token") ?? "";
      const claims = claimsOf(token);
      const account =
        claims === undefined ? { vendor: DEFAULT_PHONE_VENDOR, orgId: "" } : accountOf(claims);
      const vendor = phoneVendor(account.vendor);
      if (vendor === undefined) throw wrongToken();
      const signed = await requireSignature(account, request, path, bytes, options);
      return serve({ request, signed, query, token, claims, vendor, body: bytes.toString("utf8") });
    },
  };
}
