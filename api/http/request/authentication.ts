import { RequestError } from "../../../engine/request-error.js";
import { looksLikeApiKey } from "../../../engine/security/api-key.js";
import type { Accounts } from "../../../engine/tenancy/people/accounts.js";
import type { ApiKeys } from "../../../engine/tenancy/people/api-keys.js";
import { accessRefusal, type Tenant } from "../../../engine/tenancy/tenant.js";
import type { UserRecord } from "../../../storage/records.js";
import type { RouteAuth } from "../../contract/routes/route.js";
import type { IncomingRequest } from "../endpoints/endpoint.js";

export interface Identity {
  readonly tenant: Tenant;
  /** Undefined unless a signed-in user made the request. */
  readonly user: UserRecord | undefined;
}

/** The headers that `identify` reads. */
export const CREDENTIAL_HEADERS: readonly string[] = ["authorization", "x-api-key"];

const BEARER = /^bearer +([^\s]+) *$/i;

/**
 * Returns the API key of a request: `x-api-key`, the `api_key` of the query, or `Authorization: Bearer vk_…`; empty if
 * there is none. Any other scheme in `Authorization` is meant for a proxy.
 */
export function shownApiKey(header: (name: string) => string, queryKey: string): string {
  const [, bearer = ""] = BEARER.exec(header("authorization")) ?? [];
  return header("x-api-key") || queryKey || (looksLikeApiKey(bearer) ? bearer : "");
}

/** Identifies a request by token (`Authorization: Bearer`) or API key. */
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

  /** Throws a RequestError `unauthenticated`. `requireAccess` decides whether the identity has access. */
  async identify(request: IncomingRequest, query: URLSearchParams): Promise<Identity> {
    const token = BEARER.exec(request.header("authorization"))?.[1];
    if (token !== undefined && !looksLikeApiKey(token)) return this.#byToken(token);
    const rawKey = shownApiKey((name) => request.header(name), query.get("api_key") ?? "");
    if (rawKey !== "") return this.#byApiKey(rawKey);
    throw new RequestError(
      "unauthenticated",
      "authentication is missing: expected a bearer token or an API key",
    );
  }

  async #byToken(token: string): Promise<Identity> {
    const identity = await this.#accounts.authenticateUser(token);
    if (identity !== undefined) return identity;
    throw new RequestError("invalid_token", "the token is wrong or has expired");
  }

  async #byApiKey(rawKey: string): Promise<Identity> {
    const tenant = await this.#apiKeys.authenticate(rawKey);
    if (tenant !== undefined) return { tenant, user: undefined };
    throw new RequestError("invalid_api_key", "the API key is wrong or was revoked");
  }
}

/**
 * Refuses a known identity without the permission: throws a RequestError `forbidden`, or `unauthenticated` if only a
 * user is allowed.
 */
export function requireAccess({ tenant, user }: Identity, auth: RouteAuth): void {
  if (auth === "user" && user === undefined) {
    throw new RequestError(
      "unauthenticated",
      "expected the bearer token of a user, not an API key",
    );
  }
  if (auth === "operator" && user?.isOperator !== true) {
    throw new RequestError("operator_required", "only operators of the platform may do this");
  }
  if (auth === "admin" && user?.role !== "admin") {
    throw new RequestError(
      "admin_required",
      "only signed-in admins of the organization may do this",
    );
  }
  if (auth === "supervisor" && user !== undefined && user.role !== "admin") {
    throw new RequestError("admin_required", "only admins of the organization may do this");
  }
  if (auth === "public" || auth === "user" || auth === "operator") return;
  const refusal = accessRefusal(tenant, auth === "voice" ? "voice" : "dashboard");
  if (refusal !== undefined) throw refusal;
}

/** The key for rate limits. */
export function limitKey({ tenant }: Identity): string {
  return tenant.apiKeyId === undefined ? `user ${tenant.userId}` : `key ${tenant.apiKeyId}`;
}
