/** Where the database is, without user and password: `host:5432/name`. */
export function addressOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = hostname === "" ? (searchParams.get("host") ?? "localhost") : hostname;
  return `${host}:${port === "" ? "5432" : port}${pathname}`;
}
