import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";

export interface SignedRequest {
  readonly method: string;
  /** As in the request line, with the query. */
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

/** The error of a request's signature, with AWS's name (Signature Version 4 in a header); undefined if it is valid. */
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

/** A fault that replaces the normal response. */
export type ObjectStoreFault =
  | { readonly kind: "answer"; readonly status: number; readonly code: string }
  /** Accepts the request and never responds. */
  | { readonly kind: "silence" }
  /** Aborts responses after this many bytes of an object. */
  | { readonly kind: "break"; readonly behindBytes: number };

export interface ObjectStoreOptions {
  readonly key: SigningKey;
  readonly bucket: string;
  /** Called for each request, and again after its response. */
  readonly onChange?: () => void;
}

const STATUS_OF: Readonly<Record<string, number>> = {
  AuthorizationHeaderMalformed: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
};
const FORBIDDEN = 403;
const RANGE = /^bytes=(\d+)-(\d*)$/;

/** A bucket on a socket, in memory, that supports putting, reading and deleting in S3 and checks every signature. */
export class ObjectStore {
  /** By key, without the bucket. */
  readonly objects = new Map<string, Buffer>();
  /** Each request as "PUT key", in order. */
  readonly requests: string[] = [];
  /** Applies to every request until it is removed. */
  fault: ObjectStoreFault | undefined;
  readonly #options: ObjectStoreOptions;
  #server: Server | undefined;
  #port = 0;

  static async start(options: ObjectStoreOptions): Promise<ObjectStore> {
    const store = new ObjectStore(options);
    await store.resume();
    return store;
  }

  private constructor(options: ObjectStoreOptions) {
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Ends every connection immediately; nothing listens there until `resume`. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  /** Listens at the same address as before, with the same objects. */
  async resume(): Promise<void> {
    const server = createServer((request, response) => {
      this.#answer(request, response).then(
        () => this.#options.onChange?.(),
        () => response.destroy(),
      );
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address !== null && typeof address === "object") this.#port = address.port;
    this.#server = server;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: target = "", headers } = request;
    const [, bucket, key = ""] = /^\/([^/?]+)\/?([^?]*)/.exec(target) ?? [];
    this.requests.push(`${method} ${key}`);
    this.#options.onChange?.();
    const { fault } = this;
    if (fault?.kind === "silence") return;
    const body = await bodyOf(request);
    if (fault?.kind === "answer") return refuse(response, fault.code, fault.status);
    const wrong = signatureFault({ method, target, headers }, this.#options.key);
    if (wrong !== undefined) return this.#refuseSignature(response, wrong);
    if (bucket !== this.#options.bucket) return refuse(response, "NoSuchBucket");
    if (method === "PUT") return this.#put(response, key, body, headers["content-length"]);
    if (method === "DELETE") {
      this.objects.delete(key);
      response.writeHead(204).end();
      return;
    }
    const object = this.objects.get(key);
    if (object === undefined) return refuse(response, "NoSuchKey");
    if (method === "HEAD") {
      response.writeHead(200, { "content-length": object.length }).end();
      return;
    }
    sendObject(response, object, headers.range, fault);
  }

  #refuseSignature(response: ServerResponse, code: string): void {
    const region =
      code === "AuthorizationHeaderMalformed" ? `<Region>${this.#options.key.region}</Region>` : "";
    refuse(response, code, STATUS_OF[code] ?? FORBIDDEN, region);
  }

  #put(response: ServerResponse, key: string, body: Buffer, length: string | undefined): void {
    if (length === undefined) return refuse(response, "MissingContentLength", 411);
    this.objects.set(key, body);
    response.writeHead(200).end();
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) if (Buffer.isBuffer(piece)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function refuse(
  response: ServerResponse,
  code: string,
  status = STATUS_OF[code] ?? FORBIDDEN,
  more = "",
): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code>${more}</Error>`;
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(response.req.method === "HEAD" ? undefined : xml);
}

function sendObject(
  response: ServerResponse,
  object: Buffer,
  range: string | undefined,
  fault: ObjectStoreFault | undefined,
): void {
  const [, from = "0", to = ""] = RANGE.exec(range ?? "") ?? [];
  const part = object.subarray(Number(from), to === "" ? undefined : Number(to) + 1);
  response.writeHead(range === undefined ? 200 : 206, { "content-length": part.length });
  if (fault?.kind !== "break") {
    response.end(part);
    return;
  }
  response.write(part.subarray(0, fault.behindBytes), () => response.destroy());
}
