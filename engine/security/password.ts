import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { BoundedWork } from "./bounded-work.js";

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
const scryptWork = new BoundedWork({
  runningMax: SCRYPT_RUNNING_MAX,
  waitingMax: SCRYPT_WAITING_MAX,
  refusal: "too many sign-ins at once, try again in a few seconds",
  retryAfterSec: 3,
});

/** `<salt_hex>:<hash_hex>`. Rejects with a Failure `unavailable` when too many passwords wait to be hashed. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await deriveHash(password, salt);
  return `${salt.toString("hex")}:${hash.toString("hex")}`;
}

/** Compares in constant time; a stored text that is not of the format matches nothing. Rejects as hashPassword does. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const found = STORED_FORMAT.exec(stored);
  if (found === null) return false;
  const [, saltHex = "", hashHex = ""] = found;
  const hash = await deriveHash(password, Buffer.from(saltHex, "hex"));
  return timingSafeEqual(hash, Buffer.from(hashHex, "hex"));
}

/** Tells a stored hash from the next one, and nothing of the password: it goes by the salt, which nobody is told. */
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
