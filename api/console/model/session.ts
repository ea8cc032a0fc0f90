/**
 * Who is signed in. The token is kept in `localStorage`, where every tab finds it; decision 023 says why there and not in a
 * cookie.
 */
const TOKEN_KEY = "parley.token";

type Listener = () => void;
const listeners = new Set<Listener>();

export function currentToken(): string | undefined {
  return localStorage.getItem(TOKEN_KEY) ?? undefined;
}

export function signInWith(token: string): void {
  localStorage.setItem(TOKEN_KEY, token);
  tellAll();
}

export function signOut(): void {
  localStorage.removeItem(TOKEN_KEY);
  tellAll();
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

function tellAll(): void {
  for (const listener of listeners) listener();
}

addEventListener("storage", ({ key }) => {
  if (key === TOKEN_KEY || key === null) tellAll();
});
