/** Paths on this server. */
export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}

export interface ConsolePage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

export interface ConsoleAnswer {
  /** A word for this answer alone: letters, digits, `-` and `_`. */
  readonly nonce: string;
  /** Whether a token behind the address's `#` signs in: with a link, anybody could sign anybody in as himself. */
  readonly takesTokens: boolean;
  /** The sub-path of PUBLIC_BASE_URL; empty where there is none. */
  readonly basePath: string;
}

export function consolePage(
  { script, style, icon }: ConsoleFiles,
  { nonce, takesTokens, basePath }: ConsoleAnswer,
): ConsolePage {
  const tokens = takesTokens ? '<meta name="address-tokens" content="taken">' : "";
  const base = basePath === "" ? "" : `<meta name="base-path" content="${basePath}">`;
  return {
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Parley</title>
<meta name="color-scheme" content="light dark"><meta name="style-nonce" content="${nonce}">${tokens}${base}
<link rel="icon" href="${icon}"><link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script></head>
<body><div id="root"></div><noscript>The console needs JavaScript. The API is described at ${basePath}/api/docs.</noscript></body></html>`,
    contentSecurityPolicy: [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data:",
      "connect-src 'self'",
      // A recording, which is fetched with the token of who listens.
      "media-src 'self' blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
}
