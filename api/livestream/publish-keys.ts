import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ParleyError } from "../../storage/parley-error.js";

/** More lines than this are a mistake. */
export const PUBLISH_KEYS_MAX = 10_000;
/** The stream name of a secret that opens all streams. */
const ANY_STREAM = "*";
const LINE = /^(\*|[A-Za-z0-9_-]{1,64})=(\S{8,256})$/;
const DIGEST = "sha256";
const SALT_BYTES = 32;

/** Thrown with the number of an invalid line, never with its text. */
export class PublishKeyError extends ParleyError {
  override readonly name = "PublishKeyError";
  readonly code = "publish_keys_invalid";
}

/**
 * The secrets that broadcasters publish with. Kept as digests under a salt of this process, which are compared in
 * constant time; an unknown stream takes as long as a wrong secret.
 */
export class PublishKeys {
  readonly #salt = randomBytes(SALT_BYTES);
  readonly #digestsByStream = new Map<string, Buffer[]>();
  readonly #nobodys = [this.#digest(randomBytes(SALT_BYTES).toString("hex"))];

  /** Lines are `stream=secret`, or `*=secret` for any stream; a stream may have several. Throws a PublishKeyError. */
  constructor(lines: readonly string[]) {
    if (lines.length > PUBLISH_KEYS_MAX) {
      throw new PublishKeyError(`expected at most ${PUBLISH_KEYS_MAX} publishing keys`);
    }
    for (const [index, line] of lines.entries()) {
      const [, stream = "", secret = ""] = LINE.exec(line) ?? [];
      if (secret === "") {
        throw new PublishKeyError(
          `publishing key ${index + 1}: expected stream=secret, the secret of 8 to 256 characters without spaces`,
        );
      }
      const digests = this.#digestsByStream.get(stream) ?? [];
      digests.push(this.#digest(secret));
      this.#digestsByStream.set(stream, digests);
    }
  }

  /** Whether one of these secrets opens the stream. */
  opens(streamKey: string, secrets: readonly string[]): boolean {
    const digests = [
      ...(this.#digestsByStream.get(streamKey) ?? this.#nobodys),
      ...(this.#digestsByStream.get(ANY_STREAM) ?? this.#nobodys),
    ];
    let isOpen = false;
    for (const secret of secrets) {
      const given = this.#digest(secret);
      for (const digest of digests) isOpen = timingSafeEqual(given, digest) || isOpen;
    }
    return isOpen;
  }

  #digest(secret: string): Buffer {
    return createHmac(DIGEST, this.#salt).update(secret).digest();
  }
}

/** The lines of a file of keys; empty ones and comments (`#`) are skipped. */
export function publishKeyLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
