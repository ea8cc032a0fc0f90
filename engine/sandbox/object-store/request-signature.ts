import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  readonly method: string;
  /** As it stands in the request line, with the query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export type SignatureFault =
  | "AccessDenied"
  | "InvalidAccessKeyId"
  | "AuthorizationHeaderMalformed"
  | "SignatureDoesNotMatch";

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/;

/** What is wrong with the signature of a request, as AWS names it (Signature Version 4 in a header); undefined when nothing is. */
export function signatureFault(signed: SignedRequest, key: SigningKey): SignatureFault | undefined {
  const { headers } = signed;
  if (headers.authorization === undefined) return "AccessDenied";
  const parts = AUTHORIZATION.exec(headers.authorization);
  if (parts === null) return "AuthorizationHeaderMalformed";
  const [, accessKeyId, day = "", region, names = "", signature = ""] = parts;
  if (accessKeyId !== key.accessKeyId) return "InvalidAccessKeyId";
  if (region !== key.region) return "AuthorizationHeaderMalformed";
  const expected = signatureOf(signed, key, day, names.split(";"));
  const isGood = timingSafeEqual(Buffer.from(signature, "hex"), Buffer.from(expected, "hex"));
  return isGood ? undefined : "SignatureDoesNotMatch";
}

function signatureOf(
  { method, target, headers }: SignedRequest,
  { secretAccessKey, region }: SigningKey,
  day: string,
  names: readonly string[],
): string {
  const [path = "", query = ""] = target.split("?");
  const canonical = [
    method,
    path,
    query.split("&").sort().join("&"),
    ...names.map((name) => `${name}:${String(headers[name] ?? "").trim()}`),
    "",
    names.join(";"),
    headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const hash = createHash("sha256").update(canonical).digest("hex");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash].join("\n");
  const signingKey = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (chain, part) => createHmac("sha256", chain).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  return createHmac("sha256", signingKey).update(text).digest("hex");
}
