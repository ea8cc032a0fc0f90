import type { Database } from "../../storage/database.js";
import type { AuditActor, AuditRecord } from "../../storage/tenancy/audit-record.js";
import {
  CREDENTIAL_OWNERS,
  type SealedCredential,
} from "../../storage/tenancy/sealed-credential-store.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { Clock } from "../time/clock.js";
import { auditEntry } from "./audit-entry.js";

/** Read at a time: sealing them takes about a millisecond. */
const PAGE_SIZE = 100;
/** Credentials that change this often while they are resealed are written by something that does not stop. */
const RESEAL_ATTEMPTS_MAX = 5;

/** Whoever has credentials: a provider, or an agent for the headers of its tools. */
export type CredentialHolder = Pick<SealedCredential, "owner" | "id">;

export interface CredentialAudit {
  /** How many the current key opens. */
  readonly current: number;
  /** How many each of the old keys opens, in the order of the keys. */
  readonly old: readonly number[];
  /** The holders of credentials that none of the keys opens. */
  readonly unopened: readonly CredentialHolder[];
}

export interface ResealReport {
  readonly resealed: number;
  readonly alreadyCurrent: number;
  readonly unopened: readonly CredentialHolder[];
  /** Changed again and again meanwhile; they may be under an old key. */
  readonly contested: readonly CredentialHolder[];
}

export interface CredentialRotationOptions {
  readonly database: Pick<Database, "sealedCredentials">;
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Moves the stored credentials from old keys to the current one, beside a server that goes on working. */
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

  /** Each on its own: interrupted in between it leaves all of them readable, and can be started again. */
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
      // Somebody has stored other credentials since they were read: those count, and may need it too.
      credential = await this.#stored.find(credential);
    }
    return "contested";
  }

  #entryOf({ owner, ...target }: SealedCredential, actor: AuditActor): AuditRecord {
    const change = { id: this.#newId(), atMs: this.#clock.epochMs(), actor };
    return owner === "provider"
      ? auditEntry({ ...change, action: "provider.reseal", target: { type: owner, ...target } })
      : auditEntry({ ...change, action: "agent.reseal", target: { type: owner, ...target } });
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
