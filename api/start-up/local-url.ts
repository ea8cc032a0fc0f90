/** The URL of this server for whoever is on the same machine. */
export function localUrl(host: string, port: number): string {
  const every: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const address = every[host] ?? host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
