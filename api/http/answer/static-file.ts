import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Endpoint, IncomingRequest } from "../endpoints/endpoint.js";
import { CorsPolicy } from "../request/cors.js";
import type { Answer, HeaderLine } from "./answer.js";

export const SCRIPT_TYPE = "text/javascript; charset=utf-8";
export const STYLE_TYPE = "text/css; charset=utf-8";

/** The file's address contains its content hash, so a browser requests it once. */
const IMMUTABLE = "public, max-age=31536000, immutable";
/** The address stays the same when the content changes, so a browser revalidates it each time. */
const REVALIDATED = "public, no-cache";
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/;
const VARIES: HeaderLine = ["vary", "accept-encoding"];
const VERSION_CHARACTERS = 12;
/** The files contain nothing that another site could not get from its own server. */
const ANY_SITE_MAY_EMBED: HeaderLine = ["cross-origin-resource-policy", "cross-origin"];
const ANY_SITE = new CorsPolicy(["*"]);

/** A file that was compressed at build time; it is served as bytes and never parsed here. */
export class StaticFile {
  /** Changes with the content. */
  readonly version: string;
  readonly #contentType: string;
  readonly #zipped: Buffer;
  /** Only for clients without gzip support; every browser supports it. */
  #plain: Buffer | undefined;

  /**
   * Reads the file for `name`: `swagger-ui.js` is read from `swagger-ui.js.gz`. Throws the errors of `readFileSync`.
   */
  constructor(folder: URL, name: string, contentType: string) {
    this.#zipped = readFileSync(new URL(`${name}.gz`, folder));
    this.#contentType = contentType;
    const hash = createHash("sha256").update(this.#zipped).digest("hex");
    this.version = hash.slice(0, VERSION_CHARACTERS);
  }

  /** Serves the file under a path that contains its version. */
  immutable(path: string): Endpoint {
    return {
      ...this.#endpoint(path, ["accept-encoding"]),
      answer: (request) => this.#complete(request, IMMUTABLE, []),
    };
  }

  /** Serves the file under a permanent path, which pages of any other site may load. */
  revalidated(path: string): Endpoint {
    const tag = `"${this.version}"`;
    const headers: readonly HeaderLine[] = [["etag", tag], ANY_SITE_MAY_EMBED];
    return {
      ...this.#endpoint(path, ["accept-encoding", "if-none-match"]),
      cors: ANY_SITE,
      answer: (request) =>
        request.header("if-none-match").includes(tag)
          ? { status: 304, contentType: "", body: "", cacheControl: REVALIDATED, headers }
          : this.#complete(request, REVALIDATED, headers),
    };
  }

  /** Like `immutable`, but pages of any other site may load it too. */
  immutableCrossOrigin(path: string): Endpoint {
    return {
      ...this.#endpoint(path, ["accept-encoding"]),
      cors: ANY_SITE,
      answer: (request) => this.#complete(request, IMMUTABLE, [ANY_SITE_MAY_EMBED]),
    };
  }

  #endpoint(path: string, headerNames: readonly string[]): Omit<Endpoint, "answer"> {
    return { method: "get", path, headerNames, readsBody: false, isQuiet: true };
  }

  #complete(
    request: IncomingRequest,
    cacheControl: string,
    headers: readonly HeaderLine[],
  ): Answer {
    const whole = { status: 200, contentType: this.#contentType, cacheControl };
    if (ACCEPTS_GZIP.test(request.header("accept-encoding"))) {
      const zipped: HeaderLine = ["content-encoding", "gzip"];
      return { ...whole, body: this.#zipped, headers: [zipped, VARIES, ...headers] };
    }
    this.#plain ??= gunzipSync(this.#zipped);
    return { ...whole, body: this.#plain, headers: [VARIES, ...headers] };
  }
}

/**
 * Returns the result of `read` from files of the build. Returns undefined if the server was built without them, by
 * `tsc` alone.
 */
export function ifBuilt<Built>(read: () => Built): Built | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
