import type { Credential } from "./call-address.js";
import type { ClientClock } from "./client-clock.js";

/** What a page gives a call to prove that it may be made. */
export interface CredentialSource {
  /** A client token, or how to get one: asked for again when the connection has to be made anew. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Never in a page: whoever opens it could read the key. */
  readonly apiKey?: string | undefined;
}

/** A page's own function may never answer. */
const TOKEN_MAX_MS = 15_000;
export const NO_TOKEN = "This page could not get its permission for the call. Try again.";
export const TOKEN_ENDED =
  "The connection broke, and this page's permission for the call has ended meanwhile. Begin a new call.";

/** Rejects when the page's function does, and when it takes too long. */
export async function credentialFrom(
  { token, apiKey }: CredentialSource,
  clock: ClientClock,
): Promise<Credential> {
  if (typeof token !== "function") return { apiKey, token };
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(TOKEN_MAX_MS, () => reject(new Error("the token did not come in time")));
  });
  try {
    return { apiKey, token: await Promise.race([token(), late]) };
  } finally {
    cancel();
  }
}
