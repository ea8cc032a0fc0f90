import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import type { AgentPreCall, AgentRecord } from "../../../storage/records.js";
import { invalidFields, type RequestError } from "../../request-error.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import {
  namesPrivateHost,
  PUBLIC_ADDRESS_EXPECTED,
} from "../../vendors/transport/private-addresses.js";
import { type Headers, inLowerCase } from "./agent-tools.js";

/** The pre-call request as the API receives it. Headers and a secret that are left out stay as they are. */
export interface PreCallInput {
  readonly url: string;
  readonly timeoutMs: number;
  readonly headers?: Headers | undefined;
  /** Signs the requests as Standard Webhooks defines; null turns signing off. */
  readonly secret?: string | null | undefined;
}

type PreCall = Pick<AgentRecord, "preCall" | "sealedPreCall">;

const Secrets = v.object({
  headers: v.record(v.string(), v.string()),
  secret: v.optional(v.string()),
});
export type PreCallSecrets = v.InferOutput<typeof Secrets>;

const NO_SECRETS: PreCallSecrets = { headers: {} };

/** Throws if none of the keys opens the secrets. */
export function openPreCallSecrets(
  { sealedPreCall: sealed }: Pick<AgentRecord, "sealedPreCall">,
  cipher: CredentialCipher,
): PreCallSecrets {
  return sealed === null ? NO_SECRETS : v.parse(Secrets, cipher.open(sealed));
}

/**
 * Returns the request as it is stored, with its secrets sealed. Throws RequestError `invalid_request` if a secret is
 * left out that was given for another server or can be opened by no key.
 */
export function sealedPreCall(
  input: PreCallInput | null,
  cipher: CredentialCipher,
  before: PreCall = { preCall: null, sealedPreCall: null },
): PreCall {
  if (input === null) return { preCall: null, sealedPreCall: null };
  const { url, timeoutMs } = input;
  const stays = input.headers === undefined || input.secret === undefined;
  const kept = stays ? keptSecrets(url, before, cipher) : NO_SECRETS;
  const headers = input.headers === undefined ? kept.headers : inLowerCase(input.headers);
  const secret = input.secret === undefined ? kept.secret : (input.secret ?? undefined);
  const headerNames = Object.keys(headers);
  const preCall: AgentPreCall = { url, timeoutMs, headerNames, isSigned: secret !== undefined };
  const secrets = secret === undefined ? { headers } : { headers, secret };
  if (headerNames.length === 0 && secret === undefined) return { preCall, sealedPreCall: null };
  // Sealing unchanged secrets again would look like a change.
  const isSame = stays && before.sealedPreCall !== null && isDeepStrictEqual(kept, secrets);
  return { preCall, sealedPreCall: isSame ? before.sealedPreCall : cipher.seal(secrets) };
}

function keptSecrets(url: string, before: PreCall, cipher: CredentialCipher): PreCallSecrets {
  if (before.preCall === null || before.sealedPreCall === null) return NO_SECRETS;
  if (new URL(before.preCall.url).origin !== new URL(url).origin) {
    throw unmasked("since the address leads to another server");
  }
  try {
    return openPreCallSecrets(before, cipher);
  } catch {
    throw unmasked("since the stored ones cannot be opened");
  }
}

function unmasked(why: string): RequestError {
  const path = "preCall.headers";
  const message = `expected headers and secret again, ${why}`;
  return invalidFields([{ path, message }]);
}

/** Throws RequestError `invalid_request` for a request to a private address, since it would always fail. */
export function requirePublicPreCall(input: PreCallInput | null | undefined): void {
  if (!input || !namesPrivateHost(new URL(input.url))) return;
  const path = "preCall.url";
  const message = PUBLIC_ADDRESS_EXPECTED;
  throw invalidFields([{ path, message }]);
}
