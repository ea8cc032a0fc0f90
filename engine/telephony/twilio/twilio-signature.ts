import { createHmac, timingSafeEqual } from "node:crypto";
import { parse, stringify } from "node:querystring";
import { bodyHash } from "../body-hash.js";

export interface SignedRequest {
  /** As the vendor was given it, with its query: `https://…`, or for the upgrade of a media stream `wss://…`. */
  readonly url: string;
  /** The fields of a form body, decoded, in any order, repeated ones repeated; none for GET and for an upgrade. */
  readonly fields?: Iterable<readonly [name: string, value: string]>;
  /** The header `X-Twilio-Signature`. */
  readonly signature: string;
}

export interface TwilioWebhook {
  /** The URL that was signed, as in SignedRequest. */
  readonly url: string;
  /** The body as it came. */
  readonly body: Uint8Array;
  /** The header `X-Twilio-Signature`. */
  readonly signature: string;
}

/** The parameter of the URL in which the vendor tells the hash of a body that is no form. */
const BODY_HASH_PARAMETER = "bodySHA256";
const SIGNATURE_BYTES = 20;
const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is;
const PORT = /:\d*$/;

/**
 * Whether the request was signed with that auth token: base64 of HMAC-SHA1 over the URL and the sorted fields
 * (https://www.twilio.com/docs/usage/webhooks/webhooks-security). The vendor's back ends write a URL in different ways,
 * so its equals are tried: with and without the port or the path's last slash, escaped or as it stands. Takes the same
 * time for every wrong signature of the right length.
 */
export function isTwilioSignature(authToken: string, request: SignedRequest): boolean {
  const given = Buffer.from(request.signature, "base64");
  // Node skips what is not base64, so the text is compared as well: there is one right way to write it.
  if (given.length !== SIGNATURE_BYTES || given.toString("base64") !== request.signature) {
    return false;
  }
  const signedFields = joinFields(request.fields ?? []);
  let isSigned = false;
  for (const url of spellings(request.url)) {
    const expected = createHmac("sha1", authToken).update(url).update(signedFields).digest();
    if (timingSafeEqual(expected, given)) isSigned = true;
  }
  return isSigned;
}

/**
 * Whether a webhook was signed with that auth token, over the URL and the fields of its form. Where the URL has a
 * `bodySHA256`, the signature is over the URL alone, and that hash must be the body's.
 */
export function isTwilioWebhook(
  authToken: string,
  { url, body, signature }: TwilioWebhook,
): boolean {
  const query = new URLSearchParams(url.split(/\?(.*)/s)[1] ?? "");
  const hashes = query.getAll(BODY_HASH_PARAMETER);
  if (hashes.length === 0) {
    const fields = new URLSearchParams(Buffer.from(body).toString("utf8"));
    return isTwilioSignature(authToken, { url, fields, signature });
  }
  // Two of them: the vendor never writes that, so nobody has to guess which one counts.
  const isOfBody = hashes.length === 1 && hashes[0] === bodyHash(body);
  return isTwilioSignature(authToken, { url, signature }) && isOfBody;
}

/** The fields by name, in the order of UTF-16 code units; each value of a repeated name counts once, in order. */
function joinFields(fields: Iterable<readonly [string, string]>): string {
  const valuesByName = new Map<string, Set<string>>();
  for (const [name, value] of fields) {
    const values = valuesByName.get(name);
    if (values === undefined) valuesByName.set(name, new Set([value]));
    else values.add(value);
  }
  return [...valuesByName]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, values]) => [...values].sort().map((value) => name + value))
    .join("");
}

function spellings(url: string): ReadonlySet<string> {
  const escaped = URL.canParse(url) ? new URL(url).toString() : url;
  const written = [url, escaped].flatMap(ports);
  return new Set([...written, ...ports(escaped).map(legacyQuery)].flatMap(slashes));
}

/** The vendor's own library adds port 80 to all schemes but https, its servers the one that belongs to the scheme. */
function ports(url: string): readonly string[] {
  const [, scheme = "", authority = "", rest = ""] = URL_PARTS.exec(url) ?? [];
  if (scheme === "") return [url];
  const isSecure = /^(?:https|wss):/i.test(scheme);
  const host = authority.replace(PORT, "");
  const bare = `${scheme}${host}${rest}`;
  if (PORT.test(authority)) return [url, bare];
  const library = scheme.toLowerCase() === "https://" ? 443 : 80;
  return [
    url,
    `${scheme}${host}:${library}${rest}`,
    `${scheme}${host}:${isSecure ? 443 : 80}${rest}`,
  ];
}

function slashes(url: string): readonly string[] {
  const at = url.search(/[?#]|$/);
  const path = url.slice(0, at);
  const other = path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
  return [url, other + url.slice(at)];
}

function legacyQuery(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? url : `${url.slice(0, at)}?${stringify(parse(url.slice(at + 1)))}`;
}
