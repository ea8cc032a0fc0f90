import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import * as v from "valibot";
import type { JsonObject } from "../../storage/records.js";

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
/** Also required for decryption: GCM would accept a shorter tag, which is easier to forge. */
const AUTH_TAG_BYTES = 16;
const KEY_FORMAT = /^[0-9a-f]{64}$/i;
const SEALED_FORMAT = /^([0-9a-f]{24}):([0-9a-f]{32}):((?:[0-9a-f]{2})+)$/;

const Credentials = v.record(v.string(), v.unknown());

/**
 * Encrypts providers' credentials as `<iv_hex>:<authTag_hex>:<ciphertext_hex>` (AES-256-GCM of their JSON). The sealed
 * text does not name its key, so decryption tries all keys, the current one first.
 */
export class CredentialCipher {
  readonly #current: KeyObject;
  readonly #old: readonly KeyObject[];

  /**
   * @param currentKeyHex 32 bytes as 64 hex characters; throws on anything else.
   * @param oldKeysHex Earlier keys, which only decrypt.
   */
  constructor(currentKeyHex: string, oldKeysHex: readonly string[] = []) {
    this.#current = keyOf(currentKeyHex);
    this.#old = oldKeysHex.map(keyOf);
  }

  get oldKeyCount(): number {
    return this.#old.length;
  }

  seal(plain: JsonObject): string {
    return this.#sealText(JSON.stringify(plain));
  }

  /** Throws if the text was tampered with, is of another key or does not have the stored format. */
  open(sealed: string): JsonObject {
    if (!SEALED_FORMAT.test(sealed)) {
      throw new Error("the encrypted credentials do not have the stored format");
    }
    const opened = this.#openText(sealed);
    if (opened === undefined) throw new Error("none of the keys decrypts the credentials");
    return v.parse(Credentials, JSON.parse(opened.text));
  }

  /** Returns the index of the key that opens the text: 0 for the current one, 1 for the first old one, or undefined. */
  keyPosition(sealed: string): number | undefined {
    return this.#openText(sealed)?.keyPosition;
  }

  /** Seals the same bytes under the current key. Returns undefined if no key opens the text. */
  reseal(sealed: string): string | undefined {
    const opened = this.#openText(sealed);
    return opened && this.#sealText(opened.text);
  }

  #sealText(text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#current, iv, { authTagLength: AUTH_TAG_BYTES });
    const ciphertextHex = cipher.update(text, "utf8", "hex") + cipher.final("hex");
    return `${iv.toString("hex")}:${cipher.getAuthTag().toString("hex")}:${ciphertextHex}`;
  }

  #openText(sealed: string): { readonly text: string; readonly keyPosition: number } | undefined {
    for (const [keyPosition, key] of [this.#current, ...this.#old].entries()) {
      const text = openWith(key, sealed);
      if (text !== undefined) return { text, keyPosition };
    }
    return undefined;
  }
}

function openWith(key: KeyObject, sealed: string): string | undefined {
  const found = SEALED_FORMAT.exec(sealed);
  if (found === null) return undefined;
  const [, ivHex = "", authTagHex = "", ciphertextHex = ""] = found;
  const iv = Buffer.from(ivHex, "hex");
  const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: AUTH_TAG_BYTES });
  decipher.setAuthTag(Buffer.from(authTagHex, "hex"));
  // Decoded to text only after the tag is checked, since a wrong key yields random bytes.
  const opened = decipher.update(ciphertextHex, "hex");
  try {
    return Buffer.concat([opened, decipher.final()]).toString("utf8");
  } catch {
    // With GCM, `final` fails only if the tag does not match the key and the text.
    return undefined;
  }
}

function keyOf(keyHex: string): KeyObject {
  if (!KEY_FORMAT.test(keyHex)) {
    throw new Error("the encryption key must be 64 hexadecimal characters");
  }
  return createSecretKey(keyHex, "hex");
}
