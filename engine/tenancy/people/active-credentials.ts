import type { Database } from "../../../storage/database.js";
import type { Clock } from "../../time/clock.js";
import { ReadCache } from "../read-cache.js";
import type { Tenant } from "../tenant.js";

/** API keys and users cached for about a second, some 100 bytes each. */
const KEPT_MAX = 2_000;

/** A long operation ends within this time after its API key was revoked or its user removed. */
const CHECK_MS = 500;

/** Who started a long-running operation: an API key, or a signed-in user. */
export type StartedBy = Pick<Tenant, "userId" | "apiKeyId"> & {
  readonly orgId: string;
  /** The user has to stay an admin, not only a member. */
  readonly asAdmin?: boolean;
};

export interface ActiveCredentialsOptions {
  readonly database: Pick<Database, "apiKeys" | "users" | "recordChanges">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Whether an operation's API key is not revoked, or its user is still a member, or an admin, of the organization. */
export class ActiveCredentials {
  readonly #database: ActiveCredentialsOptions["database"];
  readonly #standing: ReadCache<true>;

  constructor({ database, clock }: ActiveCredentialsOptions) {
    this.#database = database;
    const changes = database.recordChanges;
    this.#standing = new ReadCache({ changes, clock, entriesMax: KEPT_MAX });
  }

  /** The answer is at most a second old. Operations without a key or a user are always allowed. */
  async areActive(beginner: StartedBy): Promise<boolean> {
    const { orgId, userId, apiKeyId, asAdmin = false } = beginner;
    if (userId === undefined && apiKeyId === undefined) return true;
    const key = `${orgId} ${userId ?? ""} ${apiKeyId ?? ""} ${asAdmin}`;
    return (await this.#standing.get(key, () => this.#find(beginner))) === true;
  }

  async #find({ orgId, userId, apiKeyId, asAdmin }: StartedBy): Promise<true | undefined> {
    const { apiKeys, users } = this.#database;
    if (apiKeyId !== undefined) {
      const key = await apiKeys.findById(orgId, apiKeyId);
      return key !== undefined && key.revokedAtMs === null ? true : undefined;
    }
    const user = userId === undefined ? undefined : await users.findById(userId);
    if (user?.orgId !== orgId) return undefined;
    return asAdmin !== true || user.role === "admin" ? true : undefined;
  }
}

/** Runs a long operation; its signal aborts soon after the key is revoked or the user is removed. */
export async function whileActive(
  { standing, clock }: WhileActiveDeps,
  beginner: StartedBy,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort();
  // A store that does not answer does not end the operation.
  const check = async (): Promise<void> => {
    if (!(await standing.areActive(beginner).catch(() => true))) end();
  };
  const stop = clock.every(CHECK_MS, () => void check());
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    await run(over.signal);
  } finally {
    stop();
    signal.removeEventListener("abort", end);
  }
}

export interface WhileActiveDeps {
  readonly standing: Pick<ActiveCredentials, "areActive">;
  readonly clock: Pick<Clock, "every">;
}
