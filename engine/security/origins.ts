const ANY_LABEL = "*.";
/** `*` as the first label, followed by two or more labels. */
const WILDCARD_HOST = /^\*\.[^*.]+(?:\.[^*.]+)+$/;
const LABEL = /^[a-z0-9_-]+$/i;
const WEB_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);
const APP_SCHEME = /^[a-z][a-z0-9+.-]*:$/;
/** Pages of these schemes have no origin of their own, or pages cannot have these schemes. */
const OTHER_SCHEMES: ReadonlySet<string> = new Set([
  "about:",
  "blob:",
  "data:",
  "file:",
  "filesystem:",
  "ftp:",
  "javascript:",
  "mailto:",
  "ws:",
  "wss:",
]);

/**
 * Whether an allow-list may contain the text: an origin as browsers write it, without path and default port, of a site
 * or of an app (`capacitor://localhost`, `ionic://localhost`, `tauri://localhost`). `*` as the first label matches
 * exactly one label and has to be followed by two or more.
 */
export function isOriginPattern(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, host, hostname } = new URL(text);
  const isWeb = WEB_SCHEMES.has(protocol);
  const isWritten = isWeb ? origin === text : `${protocol}//${host}` === text && host !== "";
  if (!isWritten || (!isWeb && (OTHER_SCHEMES.has(protocol) || !APP_SCHEME.test(protocol))))
    return false;
  if (!text.includes("*")) return true;
  return isWeb && WILDCARD_HOST.test(hostname);
}

/** `origin`: the header that a browser sends for a page. */
export function matchesOrigin(pattern: string, origin: string): boolean {
  if (pattern === origin) return true;
  const star = pattern.indexOf(`//${ANY_LABEL}`);
  if (star === -1) return false;
  const head = pattern.slice(0, star + 2);
  const tail = pattern.slice(star + 3);
  if (!origin.startsWith(head) || !origin.endsWith(tail)) return false;
  return LABEL.test(origin.slice(head.length, origin.length - tail.length));
}
