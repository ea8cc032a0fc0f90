import { BASE_PATH } from "./server-address.js";

/**
 * Who is signed in. The token is kept in `localStorage`, where every tab finds it; decision 023 says why there and not in a
 * cookie.
 */
/** Each server of an origin has its own. */
const TOKEN_KEY = `parley.token${BASE_PATH}`;

type Listener = () => void;
const listeners = new Set<Listener>();
/** A token that the server takes no more, while the pages that it has opened stay. */
let refusedToken: string | undefined;
/** This page was shown what only who is signed in sees. */
let isProved = false;
let wasEnded = false;

export function currentToken(): string | undefined {
  return localStorage.getItem(TOKEN_KEY) ?? undefined;
}

/** Whose pages are shown: the id of a user, whichever token they have; undefined where nobody is signed in. */
export function shownPerson(): string | undefined {
  const token = currentToken();
  return token === undefined ? undefined : personOf(token);
}

/** The pages stay with what was typed in them, but the server gives and takes nothing until the person signs in again. */
export function isSessionOver(): boolean {
  return refusedToken !== undefined && refusedToken === currentToken();
}

/** The sign-in page is shown because the server did not take the token that was kept. */
export function wasSessionEnded(): boolean {
  return wasEnded;
}

export function signInWith(token: string): void {
  wasEnded = false;
  localStorage.setItem(TOKEN_KEY, token);
  notifyAll();
}

export function signOut(): void {
  leave(false);
}

/** The server knows the person: what is shown from now on is theirs. */
export function sessionProved(): void {
  isProved = true;
}

/** The server has refused the token: it has expired, or the password is another one, or the person is gone. */
export function sessionRefused(token: string): void {
  if (token !== currentToken() || isSessionOver()) return;
  if (isProved) {
    refusedToken = token;
    notifyAll();
  } else {
    leave(true);
  }
}

function leave(isEnded: boolean): void {
  wasEnded = isEnded;
  isProved = false;
  localStorage.removeItem(TOKEN_KEY);
  notifyAll();
}

/** Calls back when somebody signs in or out, in another tab too. Gives back how to stop that. */
export function onSession(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * `npm start` prints an address that carries the demo user's token behind its `#`, which no server ever sees. Elsewhere a link with
 * somebody else's token would have people work in his organization, and leave their vendors' keys there.
 */
export function takeTokensOfAddress(): void {
  if (document.querySelector('meta[name="address-tokens"]') === null) return;
  takeTokenOfAddress();
  addEventListener("hashchange", takeTokenOfAddress);
}

function takeTokenOfAddress(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  signInWith(token);
  history.replaceState(null, "", `${location.pathname}${location.search}`);
}

/** The id of the user whose token it is; a text that is no token of ours stands for itself, and the server will refuse it. */
function personOf(token: string): string {
  const [, payload = ""] = token.split(".");
  try {
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    return String(Object(claims).userId);
  } catch {
    return token;
  }
}

function notifyAll(): void {
  for (const listener of listeners) listener();
}

addEventListener("storage", ({ key }) => {
  if (key !== TOKEN_KEY && key !== null) return;
  if (currentToken() === undefined) isProved = false;
  notifyAll();
});
