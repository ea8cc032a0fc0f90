import type { Tenant } from "../../../engine/tenancy/tenant.js";
import type { UserRecord } from "../../../storage/records.js";
import type { Identity } from "../request/authentication.js";
import type { IncomingRequest } from "./endpoint.js";

/** What the handler of any route is given; its own route says of which types. */
export class RouteCall {
  readonly query: unknown;
  readonly body: unknown;
  readonly #request: IncomingRequest;
  readonly #identity: Identity | undefined;

  constructor(
    request: IncomingRequest,
    query: unknown,
    body: unknown,
    identity: Identity | undefined,
  ) {
    this.query = query;
    this.body = body;
    this.#request = request;
    this.#identity = identity;
  }

  get id(): string {
    return this.#request.id;
  }

  get tenant(): Tenant | undefined {
    return this.#identity?.tenant;
  }

  get user(): UserRecord | undefined {
    return this.#identity?.user;
  }

  /** Few handlers ask for it, and it is made when they do. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}
