/** A refusal that only HTTP knows (a body too large, a method not offered); the engine's refusals are `RequestError`s. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: 400 | 404 | 405 | 408 | 413 | 415 | 429 | 503;
  readonly headers: readonly (readonly [string, string])[];

  constructor(status: HttpError["status"], message: string, headers: HttpError["headers"] = []) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The client hung up while its request was being read; there is nobody left to answer. */
export class RequestAbortedError extends Error {
  override readonly name = "RequestAbortedError";
}
