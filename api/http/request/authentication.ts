import { Failure } from "../../../engine/failure.js";
import type { Accounts } from "../../../engine/tenancy/people/accounts.js";
import type { ApiKeys } from "../../../engine/tenancy/people/api-keys.js";
import { accessRefusal, type Tenant } from "../../../engine/tenancy/tenant.js";
import type { UserRecord } from "../../../storage/records.js";
import type { RouteAuth } from "../../contract/routes/route.js";
import type { IncomingRequest } from "../endpoints/endpoint.js";

export interface Identity {
  readonly tenant: Tenant;
  /** Undefined unless a signed-in user asks. */
  readonly user: UserRecord | undefined;
}

/** The headers that `identify` reads. */
export const CREDENTIAL_HEADERS: readonly string[] = ["authorization", "x-api-key"];

const BEARER = /^bearer +([^\s]+) *$/i;

/** Who makes a request, by token (`Authorization: Bearer`) or API key (`x-api-key` or the `api_key` of the query). */
export class Authentication {
  readonly #accounts: Pick<Accounts, "authenticateUser">;
  readonly #apiKeys: Pick<ApiKeys, "authenticate">;

  constructor(
    accounts: Pick<Accounts, "authenticateUser">,
    apiKeys: Pick<ApiKeys, "authenticate">,
  ) {
    this.#accounts = accounts;
    this.#apiKeys = apiKeys;
  }

  /** Failure `unauthenticated`. Whether the identity may go on is for `demandAccess` to say. */
  async identify(request: IncomingRequest, query: URLSearchParams): Promise<Identity> {
    const authorization = request.header("authorization");
    if (authorization !== "") return this.#byToken(authorization);
    const rawKey = request.header("x-api-key") || (query.get("api_key") ?? "");
    if (rawKey !== "") return this.#byApiKey(rawKey);
    throw new Failure(
      "unauthenticated",
      "authentication is missing: expected a bearer token or an API key",
    );
  }

  async #byToken(authorization: string): Promise<Identity> {
    const token = BEARER.exec(authorization)?.[1];
    const identity = token === undefined ? undefined : await this.#accounts.authenticateUser(token);
    if (identity !== undefined) return identity;
    throw new Failure("unauthenticated", "the token is wrong or has expired");
  }

  async #byApiKey(rawKey: string): Promise<Identity> {
    const tenant = await this.#apiKeys.authenticate(rawKey);
    if (tenant !== undefined) return { tenant, user: undefined };
    throw new Failure("unauthenticated", "the API key is wrong or was revoked");
  }
}

/** Refuses who is known but may not do this: Failure `forbidden`, or `unauthenticated` where only a user will do. */
export function demandAccess({ tenant, user }: Identity, auth: RouteAuth): void {
  if (auth === "user" && user === undefined) {
    throw new Failure("unauthenticated", "expected the bearer token of a user, not an API key");
  }
  if (auth === "operator" && user?.isOperator !== true) {
    throw new Failure("forbidden", "this is for the operators of the platform");
  }
  if (auth === "admin" && user?.role !== "admin") {
    throw new Failure("forbidden", "this is for the admins of the organization, signed in");
  }
  if (auth !== "dashboard" && auth !== "voice" && auth !== "admin") return;
  const refusal = accessRefusal(tenant, auth === "voice" ? "voice" : "dashboard");
  if (refusal !== undefined) throw new Failure("forbidden", refusal);
}

/** What limits are counted by. */
export function limitKey({ tenant }: Identity): string {
  return tenant.apiKeyId === undefined ? `user ${tenant.userId}` : `key ${tenant.apiKeyId}`;
}
