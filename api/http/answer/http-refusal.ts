/** A refusal that only HTTP knows (a body too large, a method not offered); the engine's refusals are `Failure`s. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";
  readonly status: 400 | 404 | 405 | 408 | 413 | 415 | 429 | 503;
  readonly headers: readonly (readonly [string, string])[];

  constructor(
    status: HttpRefusal["status"],
    message: string,
    headers: HttpRefusal["headers"] = [],
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The client hung up while its request was being read; there is nobody left to answer. */
export class RequestAborted extends Error {
  override readonly name = "RequestAborted";
}
