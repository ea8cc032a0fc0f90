import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Answer } from "./answer.js";
import type { Endpoint, IncomingRequest } from "./endpoint.js";

/** Where `build-docs.sh` leaves the files of Swagger UI. */
export const BUILT_DOCS = new URL("../../docs/", import.meta.url);

/** A file's address names its content, so a browser asks for it once. */
const KEPT_FOREVER = "public, max-age=31536000, immutable";
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/;

/** A file that was compressed when the project was built; it is served as bytes and never parsed here. */
export class DocsFile {
  readonly path: string;
  readonly #contentType: string;
  readonly #zipped: Buffer;
  /** Only for who takes no gzip, which no browser is. */
  #plain: Buffer | undefined;

  /** `name`: `swagger-ui.js` is read from `swagger-ui.js.gz`. Throws what `readFileSync` throws. */
  constructor(folder: URL, name: string, contentType: string) {
    this.#zipped = readFileSync(new URL(`${name}.gz`, folder));
    this.#contentType = contentType;
    const version = createHash("sha256").update(this.#zipped).digest("hex").slice(0, 12);
    this.path = `/api/docs/${version}/${name}`;
  }

  get endpoint(): Endpoint {
    return {
      method: "get",
      path: this.path,
      headerNames: ["accept-encoding"],
      readsBody: false,
      isQuiet: true,
      answer: (request) => this.#answer(request),
    };
  }

  #answer(request: IncomingRequest): Answer {
    const whole = {
      status: 200,
      contentType: this.#contentType,
      cacheControl: KEPT_FOREVER,
    };
    if (ACCEPTS_GZIP.test(request.header("accept-encoding"))) {
      const headers = [["content-encoding", "gzip"], VARIES] as const;
      return { ...whole, body: this.#zipped, headers };
    }
    this.#plain ??= gunzipSync(this.#zipped);
    return { ...whole, body: this.#plain, headers: [VARIES] };
  }
}

const VARIES = ["vary", "accept-encoding"] as const;
