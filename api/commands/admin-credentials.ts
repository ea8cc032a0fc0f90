import { CredentialCipher } from "../../engine/security/credential-cipher.js";
import { storedDevelopmentKeys } from "../../engine/security/development-keys.js";
import {
  type CredentialHolder,
  type CredentialRotation,
  WRONG_KEY,
} from "../../engine/tenancy/credential-rotation.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";
import { CommandError } from "./command-error.js";
import type { CommandSettings } from "./data-folder.js";
import type { Terminal } from "./terminal.js";
import { printTable } from "./text-table.js";

/** Enough to identify them. If more credentials than this cannot be decrypted, a key was lost, not a provider. */
const NAMED_MAX = 20;

/** Uses the server's encryption keys; throws a CommandError if they cannot be determined. */
export async function readCipher(settings: CommandSettings): Promise<CredentialCipher> {
  const { dataDir, encryptionKey, encryptionKeysOld = [], isProduction = false } = settings;
  if (encryptionKey !== undefined) return new CredentialCipher(encryptionKey, encryptionKeysOld);
  // The generated key is used only if no setting suggests that this installation has keys of its own.
  const mayBeGenerated = !isProduction && encryptionKeysOld.length === 0;
  const made = mayBeGenerated ? await storedDevelopmentKeys(dataDir) : undefined;
  if (made !== undefined) return new CredentialCipher(made.encryptionKey);
  throw new CommandError(
    "ENCRYPTION_KEY is not set: give this command the same ENCRYPTION_KEY and ENCRYPTION_KEY_OLD as the server",
  );
}

/** Names providers and agents by id only. Throws a CommandError if no key decrypts some of the credentials. */
export async function auditCredentials(
  rotation: CredentialRotation,
  terminal: Terminal,
): Promise<void> {
  const { current, old, unopened } = await rotation.audit();
  const counts: readonly (readonly [string, number])[] = [
    ["current key", current],
    ...old.map((count, index) => [`old key ${index + 1}`, count] as const),
    ["none of the keys", unopened.length],
  ];
  const rows = counts.map(([opener, count]) => [
    { text: opener },
    { text: String(count), isRightAligned: true },
  ]);
  printTable(terminal, ["opened by", "credentials"], rows);
  if (unopened.length > 0) throw noKeyOpens(unopened);
  const keyCheck = await rotation.keyCheck();
  if (keyCheck === "unopened") throw new CommandError(WRONG_KEY);
  if (keyCheck === "old" || old.some((count) => count > 0)) {
    terminal.print("credentials reseal moves all of them to the current key.");
  } else if (old.length > 0) {
    terminal.print("No credentials use an old key: you can remove ENCRYPTION_KEY_OLD.");
  }
}

/** The check of the key in `check`. Throws a CommandError if ENCRYPTION_KEY is not the database's key. */
export async function checkKey(rotation: CredentialRotation, terminal: Terminal): Promise<void> {
  const { key, opened, unopened } = await rotation.verifyKey();
  if (key === "wrong") {
    throw new CommandError(
      `${WRONG_KEY} (of organizations' credentials it decrypts ${opened} of ${opened + unopened}): set the earlier key, or, if it is lost, see credentials accept`,
    );
  }
  const rest = unopened > 0 ? ` (${unopened} it does not decrypt: see credentials audit)` : "";
  terminal.print(`ENCRYPTION_KEY decrypts ${opened} credentials of organizations${rest}.`);
}

/** Declares the current key the database's key, for installations that have lost the earlier one. */
export async function acceptKey(rotation: CredentialRotation, terminal: Terminal): Promise<void> {
  await rotation.acceptKey();
  const { unopened } = await rotation.audit();
  terminal.print("ENCRYPTION_KEY is the key of this database from now on: restart the server.");
  if (unopened.length === 0) return;
  terminal.print(`No key decrypts these; enter them again: ${named(unopened)}.`);
}

/** Throws a CommandError if some credentials could not be re-encrypted; all others have been. */
export async function resealCredentials(
  rotation: CredentialRotation,
  terminal: Terminal,
  administrator: AuditActor,
): Promise<void> {
  const report = await rotation.reseal(administrator);
  const { resealed, alreadyCurrent, unopened, contested } = report;
  terminal.print(`Moved to the current key: ${resealed} (already current: ${alreadyCurrent}).`);
  if (unopened.length > 0) throw noKeyOpens(unopened);
  if (contested.length === 0) return;
  throw new CommandError(
    `the credentials of ${named(contested)} kept changing meanwhile; try again`,
  );
}

function noKeyOpens(holders: readonly CredentialHolder[]): CommandError {
  return new CommandError(`none of the keys decrypts the credentials of ${named(holders)}`);
}

function named(holders: readonly CredentialHolder[]): string {
  const names = holders.slice(0, NAMED_MAX).map(({ owner, id }) => `${owner} ${id}`);
  const rest = holders.length - NAMED_MAX;
  return names.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
