import type { CallTerms } from "../../engine/calls/opening/call-terms.js";
import type { ClientToken } from "../../engine/security/client-token.js";
import type { TokenUseDesk } from "../../engine/security/token-uses.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import type { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import { accessRefusal, type Tenant } from "../../engine/tenancy/tenant.js";
import { CLOSE_RATE_LIMITED, CLOSE_UNAUTHORIZED } from "./close-codes.js";

/** What a client says of itself when it comes; empty where it says nothing. */
export interface VoiceVisitor {
  readonly addressGroup: string;
  readonly apiKey: string;
  readonly token: string;
  /** The page's, as its browser says: a program can say what it likes. */
  readonly origin: string;
  readonly agentId: string | undefined;
  readonly historyKey: string | undefined;
}

export interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** A client that may call. */
export interface Entry {
  readonly refusal?: undefined;
  readonly tenant: Tenant;
  readonly agentId: string | undefined;
  readonly terms: CallTerms | undefined;
  /** The call is open. */
  opened(historyKey: string): void;
  /** The call could not be opened. */
  failed(): void;
  /** The client has gone. */
  left(): void;
}

export interface VoiceEntranceOptions {
  readonly apiKeys: Pick<ApiKeys, "authenticate">;
  readonly clientAccess: Pick<ClientAccess, "byToken" | "byOrigin">;
  readonly tokenUses: TokenUseDesk;
}

/** A household has one or two; more from one address is a program that spends somebody's money. */
const PUBLIC_CALLS_AT_ONCE = 3;
const PUBLIC_CALL_MAX_SEC = 600;

/** Who may call by the voice WebSocket: with an API key, with a client token, or from where an agent is public. */
export class VoiceEntrance {
  readonly #options: VoiceEntranceOptions;
  readonly #uses: TokenUseDesk;
  /** Calls without key or token, by the caller's address. */
  readonly #publicCalls = new Map<string, number>();

  constructor(options: VoiceEntranceOptions) {
    this.#options = options;
    this.#uses = options.tokenUses;
  }

  async admit(visitor: VoiceVisitor): Promise<Entry | { readonly refusal: Refusal }> {
    if (visitor.apiKey !== "") return this.#byKey(visitor);
    if (visitor.token !== "") return this.#byToken(visitor);
    return this.#byOrigin(visitor);
  }

  async #byKey({ apiKey, agentId }: VoiceVisitor) {
    const tenant = await this.#options.apiKeys.authenticate(apiKey);
    if (tenant === undefined) return unauthorized("api_key is missing, wrong or revoked");
    return refusalOf(tenant) ?? entry({ tenant, agentId });
  }

  async #byToken({ token: text, origin, agentId, historyKey }: VoiceVisitor) {
    const visit = await this.#options.clientAccess.byToken(text, origin);
    if (typeof visit === "string") return unauthorized(`token: ${visit}`);
    const { tenant, token } = visit;
    if (agentId !== undefined && agentId !== visit.agentId) {
      return unauthorized("token: the token is for another agent");
    }
    const refusal = refusalOf(tenant);
    if (refusal !== undefined || token === undefined)
      return refusal ?? unauthorized("token: wrong");
    const used = await this.#uses.take(token, historyKey);
    if (used !== undefined) return unauthorized(`token: ${used}`);
    return entry({
      tenant,
      agentId: visit.agentId,
      terms: { ...token, isOneConversation: true },
      ...this.#usesOf(token),
    });
  }

  async #byOrigin({ agentId, origin, addressGroup }: VoiceVisitor) {
    const { clientAccess } = this.#options;
    const visit = agentId === undefined ? undefined : await clientAccess.byOrigin(agentId, origin);
    if (visit === undefined) return unauthorized("api_key is missing, wrong or revoked");
    const refusal = refusalOf(visit.tenant);
    if (refusal !== undefined) return refusal;
    const count = this.#publicCalls.get(addressGroup) ?? 0;
    if (count >= PUBLIC_CALLS_AT_ONCE) {
      return refused(CLOSE_RATE_LIMITED, "too many calls at once from this address");
    }
    this.#publicCalls.set(addressGroup, count + 1);
    const { tenant } = visit;
    const terms = { callMaxSec: PUBLIC_CALL_MAX_SEC, variables: {} };
    return entry({ tenant, agentId, terms, left: () => this.#publicCallLeft(addressGroup) });
  }

  #usesOf(token: ClientToken): Pick<Entry, "opened" | "failed"> {
    return {
      opened: (historyKey) => this.#uses.opened(token, historyKey),
      failed: () => this.#uses.giveBack(token),
    };
  }

  #publicCallLeft(addressGroup: string): void {
    const count = (this.#publicCalls.get(addressGroup) ?? 1) - 1;
    if (count === 0) this.#publicCalls.delete(addressGroup);
    else this.#publicCalls.set(addressGroup, count);
  }
}

function entry(parts: Pick<Entry, "tenant" | "agentId"> & Partial<Entry>): Entry {
  const nothing = () => {};
  return { terms: undefined, opened: nothing, failed: nothing, left: nothing, ...parts };
}

function refusalOf(tenant: Tenant) {
  const refusal = accessRefusal(tenant, "voice");
  return refusal === undefined ? undefined : unauthorized(refusal);
}

function unauthorized(message: string) {
  return refused(CLOSE_UNAUTHORIZED, message);
}

function refused(code: number, message: string) {
  return { refusal: { code, message } } as const;
}
