import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Semaphore } from "./semaphore.js";

const SALT_BYTES = 16;
const HASH_BYTES = 64;
/** Part of the stored format although not stored: other costs would make every kept hash unverifiable. */
const SCRYPT_COST = { N: 16_384, r: 8, p: 1 } as const;
/** 96 bits: two passwords of one user never have the same. */
const MARK_CHARACTERS = 16;
const STORED_FORMAT = /^((?:[0-9a-f]{2})+):([0-9a-f]{128})$/;

/** Half of the thread pool of Node: file reads, name look-ups and token checks need the rest. */
const SCRYPT_RUNNING_MAX = 2;
/** At about 50 ms each the last in line waits some three seconds; nobody waits longer for a sign-in. */
const SCRYPT_WAITING_MAX = 128;

/** The process has one bound, since it has one thread pool to protect. */
const scryptWork = new Semaphore({
  runningMax: SCRYPT_RUNNING_MAX,
  waitingMax: SCRYPT_WAITING_MAX,
  refusal: "too many sign-ins at once, try again in a few seconds",
  retryAfterSec: 3,
});

/** `<salt_hex>:<hash_hex>`, of the password in NFKC: keyboards and systems write one character in several ways. Rejects with a RequestError `unavailable` when too many passwords wait to be hashed. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await deriveHash(password.normalize("NFKC"), salt);
  return `${salt.toString("hex")}:${hash.toString("hex")}`;
}

/** `otherForm`: the hash is of an earlier release, which did not normalize, and should be replaced. */
export type PasswordMatch = "normalized" | "otherForm";

/**
 * Compares in constant time, first in NFKC, then as typed and in the forms that other systems type; of most passwords all of
 * these are one. Undefined: another password, or a stored text that is not of the format. Rejects as hashPassword does.
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

/** As `matchPassword`, where it does not matter how the hash was made. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  return (await matchPassword(password, stored)) !== undefined;
}

/**
 * Distinguishes a stored hash from the next one without revealing the password: it is derived from the salt, which is
 * secret.
 */
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
