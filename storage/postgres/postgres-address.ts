/** The database without user and password: `host:5432/name`. */
export function addressOf(url: string): string {
  if (!isEscaped(url)) return "the address in DATABASE_URL";
  const { hostname, port, pathname, searchParams } = new URL(withHost(url));
  const host = searchParams.get("host") ?? (hostname === "" ? "localhost" : hostname);
  return `${host}:${searchParams.get("port") ?? (port === "" ? "5432" : port)}${pathname}`;
}

/**
 * Whether a PostgreSQL URL has unambiguous parts. A `/`, `?` or `#` in a password that is not percent-encoded ends the
 * host's part: the text before it would be parsed as host and port, and the host as a path.
 */
export function isEscaped(url: string): boolean {
  const whole = withHost(url);
  if (!URL.canParse(whole)) return false;
  const { username, password, pathname, hash, searchParams } = new URL(whole);
  if (pathname.includes("@") || hash !== "") return false;
  if ([...searchParams.keys()].some((name) => name.includes("@"))) return false;
  return [username, password, pathname].every(isDecodable);
}

/** `URL` does not accept a user without a host: `postgres://parley@/name?host=/var/run/postgresql`. */
function withHost(url: string): string {
  return URL.canParse(url) ? url : url.replace("@/", "@localhost/");
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
