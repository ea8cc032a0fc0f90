import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;

/** Signed JSON that nobody without the secret can forge; it is safe in URLs. */
export class SignedText {
  readonly #key: Buffer;
  readonly #charactersMax: number;

  /** The key is derived from `secret` and `label`, so that each label has its own key. Longer texts are refused. */
  constructor(secret: string, label: string, charactersMax: number) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", label, KEY_BYTES));
    this.#charactersMax = charactersMax;
  }

  sign(value: unknown): string {
    const text = Buffer.from(JSON.stringify(value)).toString("base64url");
    return `${text}.${this.signature(text).toString("base64url")}`;
  }

  /** Returns the signed value, or undefined if the text is forged, truncated or too long. */
  read(signed: string): unknown {
    if (signed.length > this.#charactersMax) return undefined;
    const [text = "", signature = ""] = signed.split(".");
    const given = Buffer.from(signature, "base64url");
    const expected = this.signature(text);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  }

  /** An HMAC of the text: only the holder of the secret can compute it. */
  signature(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }
}
