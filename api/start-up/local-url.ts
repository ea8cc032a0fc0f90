/** What stands for every address of the machine, and the one at which the machine reaches itself. */
const OWN_HOSTS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Whether a server that listens there is reached at every address of its machine. */
export function isEveryHost(host: string): boolean {
  return host in OWN_HOSTS;
}

/** The URL of this server for whoever is on the same machine. */
export function localUrl(host: string, port: number): string {
  return hostUrl(OWN_HOSTS[host] ?? host, port);
}

export function hostUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
