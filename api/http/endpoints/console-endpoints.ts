import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import type { Answer } from "../answer/answer.js";
import { HttpError } from "../answer/http-error.js";
import { ifBuilt, SCRIPT_TYPE, STYLE_TYPE, StaticFile } from "../answer/static-file.js";
import type { Endpoint } from "./endpoint.js";

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
  /** A nonce for this response: letters, digits, `-` and `_`. */
  readonly nonce: string;
  /** Whether a token after the address's `#` signs in: otherwise any user's link could sign another user in as them. */
  readonly takesTokens: boolean;
  /** The sub-path of PUBLIC_BASE_URL; empty if there is none. */
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
<body><div id="root"><div class="starting"><img src="${icon}" alt="">Parley</div></div><noscript>The console needs JavaScript. The API is described at ${basePath}/api/docs.</noscript></body></html>`,
    contentSecurityPolicy: [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data:",
      "connect-src 'self'",
      // Allows recordings, which are fetched with the listener's token.
      "media-src 'self' blob:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
}

export const CONSOLE_PATH = "/console";

/** The output folder of `build-console.sh`. */
const BUILT_CONSOLE = new URL("../../../console/", import.meta.url);
const ASSETS_PATH = `${CONSOLE_PATH}/assets`;
const NOT_BUILT = "the console is not built: run `npm run build`";
const NONCE_BYTES = 16;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: SCRIPT_TYPE,
  css: STYLE_TYPE,
  svg: "image/svg+xml",
};

/**
 * The console: its files under content-hashed names, and its single page for every other path below `/console`, since
 * the page does its own routing. A server without the console still handles calls. `takesTokens`: see `ConsoleAnswer`.
 */
export function consoleEndpoints(
  takesTokens: boolean,
  {
    basePath = "",
    folder = BUILT_CONSOLE,
  }: { readonly basePath?: string; readonly folder?: URL } = {},
): readonly Endpoint[] {
  const files = ifBuilt(() => builtFiles(folder));
  const answer =
    files === undefined
      ? refuse(NOT_BUILT)
      : pageAnswer(entries(files.map(({ path }) => `${basePath}${path}`)), {
          takesTokens,
          basePath,
        });
  const pages = [CONSOLE_PATH, `${CONSOLE_PATH}/*`].map((path) => pageEndpoint(path, answer));
  // A page of an earlier build requests a file that is gone: it must not get the page instead of a script.
  const gone = pageEndpoint(`${ASSETS_PATH}/*`, refuse("no such path"));
  return [...pages, gone, ...(files ?? [])];
}

function builtFiles(folder: URL): readonly Endpoint[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".gz"))
    .map((zippedName) => {
      const name = zippedName.slice(0, -".gz".length);
      const type = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)];
      if (type === undefined) throw new Error(`${name}: unknown type of console file`);
      return new StaticFile(folder, name, type).immutable(`${ASSETS_PATH}/${name}`);
    });
}

function entries(paths: readonly string[]): ConsoleFiles {
  const pathOf = (pattern: RegExp) => {
    const path = paths.find((each) => pattern.test(each));
    if (path === undefined) throw new Error(`the console was built without ${pattern.source}`);
    return path;
  };
  return {
    script: pathOf(/\/main-[^/]+\.js$/),
    style: pathOf(/\/main-[^/]+\.css$/),
    icon: pathOf(/\/icon-[^/]+\.svg$/),
  };
}

/** The recording's waveform has its own style sheet, which the page's policy allows by a nonce for this response. */
function pageAnswer(files: ConsoleFiles, page: Omit<ConsoleAnswer, "nonce">): () => Answer {
  return () => {
    const nonce = randomBytes(NONCE_BYTES).toString("base64url");
    const { html, contentSecurityPolicy } = consolePage(files, { ...page, nonce });
    return {
      status: 200,
      contentType: "text/html; charset=utf-8",
      body: html,
      policy: contentSecurityPolicy,
    };
  };
}

function refuse(message: string): () => never {
  return () => {
    throw new HttpError("path_not_found", message);
  };
}

function pageEndpoint(path: string, answer: () => Answer): Endpoint {
  return { method: "get", path, headerNames: [], readsBody: false, isQuiet: true, answer };
}
