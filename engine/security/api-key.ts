import { createHash, randomBytes } from "node:crypto";

const KEY_PREFIX = "vk_";
const RANDOM_BYTES = 24;
const DISPLAYED_LENGTH = 10;
const KEY_FORMAT = /^vk_[0-9a-f]{48}$/;

export interface NewApiKey {
  /** The key itself, to be shown once and never stored. */
  readonly rawKey: string;
  readonly keyHash: string;
  readonly keyPrefix: string;
}

export function newApiKey(): NewApiKey {
  return apiKeyOf(`${KEY_PREFIX}${randomBytes(RANDOM_BYTES).toString("hex")}`);
}

/** Returns the parts of a key that are stored, and the key itself. */
export function apiKeyOf(rawKey: string): NewApiKey {
  return { rawKey, keyHash: hashApiKey(rawKey), keyPrefix: rawKey.slice(0, DISPLAYED_LENGTH) };
}

/** SHA-256 of the whole key in hex. It needs neither salt nor a slow hash, since the key is 192 random bits. */
export function hashApiKey(rawKey: string): string {
  return createHash("sha256").update(rawKey).digest("hex");
}

/** Distinguishes API keys from other bearer tokens by their prefix. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(KEY_PREFIX);
}

/** Avoids a database lookup for text that cannot be a key. */
export function isApiKey(text: string): boolean {
  return KEY_FORMAT.test(text);
}
