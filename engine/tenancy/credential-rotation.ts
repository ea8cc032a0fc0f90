import type { Database } from "../../storage/database.js";
import type { AuditActor, AuditRecord } from "../../storage/tenancy/audit-record.js";
import {
  CREDENTIAL_OWNERS,
  type SealedCredential,
} from "../../storage/tenancy/sealed-credential-store.js";
import type { Logger } from "../log.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { Clock } from "../time/clock.js";
import { auditEntry } from "./audit-entry.js";

/** Credentials per read; sealing that many takes about a millisecond. */
const PAGE_SIZE = 100;
/** Credential holders named in one log line; `credentials audit` lists all of them. */
export const HOLDERS_NAMED_MAX = 20;
/** Credentials that change this often during a reseal are being written in a loop. */
const RESEAL_ATTEMPTS_MAX = 5;

/** A provider, or an agent with secrets, such as the headers of its tools. */
export type CredentialHolder = Pick<SealedCredential, "owner" | "id">;

export interface CredentialAudit {
  /** How many credentials the current key opens. */
  readonly current: number;
  /** How many credentials each of the old keys opens, in the order of the keys. */
  readonly old: readonly number[];
  /** The holders of credentials that none of the keys opens. */
  readonly unopened: readonly CredentialHolder[];
}

/** Whether the stored credentials and the stored key check match the key that the server was started with. */
export interface KeyVerdict {
  readonly key: "right" | "wrong";
  /** Counts credentials of organizations. */
  readonly opened: number;
  readonly unopened: number;
}

/** Which key opens the stored key check: the current one, an old one, or none; `missing` if none was ever stored. */
export type KeyCheckState = "current" | "old" | "unopened" | "missing";

export const WRONG_KEY =
  "ENCRYPTION_KEY is not the key that encrypted the credentials in this database";

export interface ResealReport {
  readonly resealed: number;
  readonly alreadyCurrent: number;
  readonly unopened: readonly CredentialHolder[];
  /** Holders whose credentials kept changing during the reseal; an old key may still be needed for them. */
  readonly contested: readonly CredentialHolder[];
}

export interface CredentialRotationOptions {
  readonly database: Pick<Database, "sealedCredentials">;
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Moves the stored credentials from old keys to the current one while servers keep running. */
export class CredentialRotation {
  readonly #stored: Database["sealedCredentials"];
  readonly #cipher: CredentialCipher;
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor({ database, cipher, clock, newId }: CredentialRotationOptions) {
    this.#stored = database.sealedCredentials;
    this.#cipher = cipher;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** Reads only. */
  async audit(): Promise<CredentialAudit> {
    const counts = Array.from({ length: 1 + this.#cipher.oldKeyCount }, () => 0);
    const unopened: CredentialHolder[] = [];
    for await (const { owner, id, sealed } of this.#all()) {
      const position = this.#cipher.keyPosition(sealed);
      if (position === undefined) unopened.push({ owner, id });
      else counts[position] = (counts[position] ?? 0) + 1;
    }
    const [current = 0, ...old] = counts;
    return { current, old, unopened };
  }

  async keyCheck(): Promise<KeyCheckState> {
    const check = await this.#stored.keyCheck();
    if (check === undefined) return "missing";
    const position = this.#cipher.keyPosition(check);
    if (position === undefined) return "unopened";
    return position === 0 ? "current" : "old";
  }

  /**
   * Tries the keys on the key check and on every organization's credentials. Credentials of global providers count only
   * if there is nothing else, since a start may have sealed them again. Only reads.
   */
  async verifyKey(): Promise<KeyVerdict> {
    const state = await this.keyCheck();
    const own = { opened: 0, unopened: 0 };
    const global = { opened: 0, unopened: 0 };
    for await (const { orgId, sealed } of this.#all()) {
      const counts = orgId === null ? global : own;
      if (this.#cipher.keyPosition(sealed) === undefined) counts.unopened += 1;
      else counts.opened += 1;
    }
    const isProven = state === "current" || state === "old" || own.opened > 0;
    const isRefuted =
      state === "unopened" ||
      own.unopened > 0 ||
      (state === "missing" && global.opened === 0 && global.unopened > 0);
    return { key: isProven || !isRefuted ? "right" : "wrong", ...own };
  }

  /**
   * Stores a key check under the current key if there is none, or if no key opens the stored one although they open all
   * credentials. A key check under an old key stays until the credentials are resealed, since servers that do not have
   * the new key yet need it.
   */
  async storeKeyCheck(): Promise<void> {
    const check = await this.#stored.keyCheck();
    if (check !== undefined && this.#cipher.keyPosition(check) !== undefined) return;
    await this.#stored.replaceKeyCheck(check, this.#cipher.seal({}));
  }

  /** For an operator who has lost the earlier key. Credentials sealed with it stay unreadable. */
  async acceptKey(): Promise<void> {
    for (let attempt = 1; attempt <= RESEAL_ATTEMPTS_MAX; attempt += 1) {
      const check = await this.#stored.keyCheck();
      if (check !== undefined && this.#cipher.keyPosition(check) === 0) return;
      if (await this.#stored.replaceKeyCheck(check, this.#cipher.seal({}))) return;
    }
    throw new Error("the key check kept changing meanwhile");
  }

  /** Reseals each credential on its own: after an interruption all are readable, and a second run does the rest. */
  async reseal(actor: AuditActor): Promise<ResealReport> {
    let resealed = 0;
    let alreadyCurrent = 0;
    const unopened: CredentialHolder[] = [];
    const contested: CredentialHolder[] = [];
    for await (const credential of this.#all()) {
      const { owner, id } = credential;
      const outcome = await this.#resealOne(credential, actor);
      if (outcome === "resealed") resealed += 1;
      else if (outcome === "alreadyCurrent") alreadyCurrent += 1;
      else if (outcome === "unopened") unopened.push({ owner, id });
      else if (outcome === "contested") contested.push({ owner, id });
    }
    // The key check comes last, so that a server that has only the old key can start until all credentials are moved.
    if ((await this.keyCheck()) === "old") await this.acceptKey();
    return { resealed, alreadyCurrent, unopened, contested };
  }

  async #resealOne(
    first: SealedCredential,
    actor: AuditActor,
  ): Promise<"resealed" | "alreadyCurrent" | "unopened" | "contested" | "gone"> {
    let credential: SealedCredential | undefined = first;
    for (let attempt = 1; attempt <= RESEAL_ATTEMPTS_MAX; attempt += 1) {
      if (credential === undefined) return "gone";
      if (this.#cipher.keyPosition(credential.sealed) === 0) return "alreadyCurrent";
      const replacement = this.#cipher.reseal(credential.sealed);
      if (replacement === undefined) return "unopened";
      const entry = this.#entryOf(credential, actor);
      if (await this.#stored.replace(credential, replacement, entry)) return "resealed";
      // Another writer stored new credentials after the read; these may need resealing, too.
      credential = await this.#stored.find(credential);
    }
    return "contested";
  }

  #entryOf({ owner, ...target }: SealedCredential, actor: AuditActor): AuditRecord {
    const change = { id: this.#newId(), atMs: this.#clock.epochMs(), actor };
    switch (owner) {
      case "provider":
        return auditEntry({
          ...change,
          action: "provider.reseal",
          target: { type: owner, ...target },
        });
      case "webhook":
        return auditEntry({
          ...change,
          action: "webhook.reseal",
          target: { type: owner, ...target },
        });
      case "telephonyAccount":
        return auditEntry({
          ...change,
          action: "telephonyAccount.reseal",
          target: { type: owner, ...target },
        });
      case "agent":
      case "preCall":
      case "mcp":
        return auditEntry({
          ...change,
          action: "agent.reseal",
          target: { type: "agent", ...target },
        });
    }
  }

  async *#all(): AsyncGenerator<SealedCredential> {
    for (const owner of CREDENTIAL_OWNERS) {
      let afterSequence: number | undefined = 0;
      while (afterSequence !== undefined) {
        const page: readonly SealedCredential[] = await this.#stored.page(
          owner,
          afterSequence,
          PAGE_SIZE,
        );
        yield* page;
        afterSequence = page.length < PAGE_SIZE ? undefined : page.at(-1)?.sequence;
      }
    }
  }
}

/**
 * Tries the encryption key at the start of a server, before anything is sealed with it. Returns why the server is not
 * ready, or undefined if the key is right; a key check then records the key.
 */
export async function checkEncryptionKey(
  rotation: CredentialRotation,
  log: Logger,
): Promise<string | undefined> {
  const { key, ...counts } = await rotation.verifyKey();
  const holders = key === "wrong" || counts.unopened > 0 ? (await rotation.audit()).unopened : [];
  const named = holders.slice(0, HOLDERS_NAMED_MAX).map(({ owner, id }) => `${owner} ${id}`);
  const fields = { ...counts, unopenedHolders: named };
  if (key === "wrong") {
    log.error(
      fields,
      `${WRONG_KEY}: the server is not ready. Start it with the earlier key as ENCRYPTION_KEY, or in ENCRYPTION_KEY_OLD. ` +
        "If that key is lost: npm run admin -- credentials accept, start again, and enter all credentials again",
    );
    return WRONG_KEY;
  }
  if (counts.unopened > 0) {
    log.warn(
      fields,
      "ENCRYPTION_KEY does not decrypt all credentials of organizations; see npm run admin -- credentials audit",
    );
  } else {
    await rotation.storeKeyCheck();
  }
  return undefined;
}
