import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Semaphore } from "./semaphore.js";

const SALT_BYTES = 16;
const HASH_BYTES = 64;
/** Part of the stored format, although not stored: with other costs, no stored hash could be verified. */
const SCRYPT_COST = { N: 16_384, r: 8, p: 1 } as const;
/** 96 bits, so that no two passwords of a user have the same mark. */
const MARK_CHARACTERS = 16;
const STORED_FORMAT = /^((?:[0-9a-f]{2})+):([0-9a-f]{128})$/;

/** Half of Node's thread pool; file reads, DNS lookups and token checks need the rest. */
const SCRYPT_RUNNING_MAX = 2;
/** A hash takes about 50 ms, so the last one waits some three seconds; a sign-in should not take longer. */
const SCRYPT_WAITING_MAX = 128;

/** One limit per process, since a process has one thread pool. */
const scryptWork = new Semaphore({
  runningMax: SCRYPT_RUNNING_MAX,
  waitingMax: SCRYPT_WAITING_MAX,
  refusal: "too many sign-ins at once, try again in a few seconds",
  retryAfterSec: 3,
});

/**
 * Returns `<salt_hex>:<hash_hex>` of the password in NFKC, since keyboards and systems encode characters differently.
 * RequestError `overloaded` if too many passwords wait to be hashed.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await deriveHash(password.normalize("NFKC"), salt);
  return `${salt.toString("hex")}:${hash.toString("hex")}`;
}

/** `otherForm`: the hash of an earlier release, which did not normalize passwords; it should be replaced. */
export type PasswordMatch = "normalized" | "otherForm";

/**
 * Compares in constant time, first in NFKC, then as typed, in NFC and in NFD, which are the same for most passwords.
 * Returns undefined for a wrong password or a text without the stored format. Rejects as `hashPassword`.
 */
export async function matchPassword(
  password: string,
  stored: string,
): Promise<PasswordMatch | undefined> {
  const found = STORED_FORMAT.exec(stored);
  if (found === null) return undefined;
  const [, saltHex = "", hashHex = ""] = found;
  const normalized = password.normalize("NFKC");
  const forms = [normalized, password, password.normalize("NFC"), password.normalize("NFD")];
  for (const form of new Set(forms)) {
    const hash = await deriveHash(form, Buffer.from(saltHex, "hex"));
    if (timingSafeEqual(hash, Buffer.from(hashHex, "hex"))) {
      return form === normalized ? "normalized" : "otherForm";
    }
  }
  return undefined;
}

/** As `matchPassword`, without the form of the password. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  return (await matchPassword(password, stored)) !== undefined;
}

/** Changes with every new hash and reveals nothing of the password, since the hash contains a secret random salt. */
export function passwordMark(stored: string): string {
  return createHash("sha256").update(stored).digest("base64url").slice(0, MARK_CHARACTERS);
}

function deriveHash(password: string, salt: Buffer): Promise<Buffer> {
  return scryptWork.run(
    () =>
      new Promise((resolve, reject) => {
        scrypt(password, salt, HASH_BYTES, SCRYPT_COST, (error, hash) => {
          if (error === null) resolve(hash);
          else reject(error);
        });
      }),
  );
}
