import { createHmac, timingSafeEqual } from "node:crypto";

export interface PlivoSignedRequest {
  /** As the vendor was given it, with its query. */
  readonly url: string;
  /** The fields of the form body, decoded. */
  readonly fields: Iterable<readonly [name: string, value: string]>;
  /** The header `X-Plivo-Signature-V3-Nonce`. */
  readonly nonce: string;
  /** The header `X-Plivo-Signature-V3`, or `X-Plivo-Signature-Ma-V3` of a main account: one or more with commas between. */
  readonly signatures: string;
}

const SIGNATURES_MAX = 8;

/**
 * Whether a POST was signed with that auth token: base64 of HMAC-SHA256 over the address, the sorted query, the sorted fields
 * and the nonce (https://www.plivo.com/docs/voice/concepts/signature-validation, and `validateV3Signature` of Plivo's library).
 */
export function isPlivoSignature(authToken: string, request: PlivoSignedRequest): boolean {
  if (request.nonce === "" || !URL.canParse(request.url)) return false;
  const expected = createHmac("sha256", authToken)
    .update(`${signedText(request)}.${request.nonce}`)
    .digest("base64");
  const given = request.signatures.split(",").slice(0, SIGNATURES_MAX);
  return given.some((signature) => isEqual(signature.trim(), expected));
}

function signedText({ url, fields }: PlivoSignedRequest): string {
  const { protocol, host, pathname, searchParams } = new URL(url);
  const query = sorted(searchParams)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const form = sorted(fields).flat().join("");
  const address = `${protocol}//${host}${pathname}`;
  if (query === "" && form === "") return address;
  return `${address}?${query}${query !== "" && form !== "" ? "." : ""}${form}`;
}

/** By name, and values of one name by themselves, in the order of UTF-16 code units. */
function sorted(
  pairs: Iterable<readonly [string, string]>,
): readonly (readonly [string, string])[] {
  return [...pairs].sort(([name, value], [otherName, otherValue]) => {
    if (name !== otherName) return name < otherName ? -1 : 1;
    return value < otherValue ? -1 : 1;
  });
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
