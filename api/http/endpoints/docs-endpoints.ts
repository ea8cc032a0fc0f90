import { createHash } from "node:crypto";
import type { Answer } from "../answer/answer.js";
import { HttpError } from "../answer/http-error.js";
import { ifBuilt, SCRIPT_TYPE, STYLE_TYPE, StaticFile } from "../answer/static-file.js";
import type { Endpoint } from "./endpoint.js";

export interface DocsPage {
  readonly html: string;
  /** Allows the page to load this server's files and its own few lines of style and script, and nothing else. */
  readonly contentSecurityPolicy: string;
}

/** Paths on this server. */
export interface DocsSources {
  readonly document: string;
  readonly script: string;
  readonly style: string;
}

/** The library's tables and long words are wider than a phone's screen, which would widen the whole page. */
const STYLE =
  "body{margin:0}html.dark-mode body{background:#1c2022}" +
  ".swagger-ui .info table{display:block;overflow-x:auto}" +
  ".swagger-ui .info code{overflow-wrap:anywhere;white-space:pre-wrap}" +
  ".swagger-ui .info td code{white-space:nowrap}" +
  ".swagger-ui .opblock-summary-path{overflow-wrap:anywhere}";

/** Wraps the library's page in one element of ours, which follows the system's color scheme. */
export function docsPage({ document, script, style }: DocsSources): DocsPage {
  const start = startScript(document);
  return {
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Parley API</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${style}"><style>${STYLE}</style></head>
<body><main id="docs"></main><script src="${script}"></script><script>${start}</script></body></html>`,
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src 'self' ${hashOf(start)}`,
      `style-src 'self' ${hashOf(STYLE)}`,
      "img-src data:",
      // Allows requests for the document, and those that a reader tries out.
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
}

function startScript(document: string): string {
  const options = {
    url: document,
    dom_id: "#docs",
    deepLinking: true,
    filter: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // Without this setting, the library sends the document to its maker's validator.
    validatorUrl: null,
  };
  return `
const dark = matchMedia("(prefers-color-scheme: dark)");
const colour = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", colour);
colour();
SwaggerUIBundle(${JSON.stringify(options)});
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

export const DOCS_PATH = "/api/docs";

/** The output folder of `build-docs.sh` with the files of Swagger UI. */
const BUILT_DOCS = new URL("../../../docs/", import.meta.url);

const NOT_BUILT = "the documentation page is not built: run `npm run build`";

/**
 * The page for the OpenAPI document at the path `document`, and the library's files. A server that was built
 * without them, by `tsc` alone, still handles calls.
 */
export function docsEndpoints(
  document: string,
  {
    basePath = "",
    folder = BUILT_DOCS,
  }: { readonly basePath?: string; readonly folder?: URL } = {},
): readonly Endpoint[] {
  const files = ifBuilt(() => ({
    script: builtFile(folder, "swagger-ui.js", SCRIPT_TYPE),
    style: builtFile(folder, "swagger-ui.css", STYLE_TYPE),
  }));
  if (files === undefined) {
    return [
      pageEndpoint(() => {
        throw new HttpError("path_not_found", NOT_BUILT);
      }),
    ];
  }
  const { script, style } = files;
  const page = docsPage({
    document: `${basePath}${document}`,
    script: `${basePath}${script.path}`,
    style: `${basePath}${style.path}`,
  });
  // Stored as bytes: a client that requests the document repeatedly without reading uses none of our memory.
  const answer: Answer = {
    status: 200,
    contentType: "text/html; charset=utf-8",
    body: Buffer.from(page.html),
    policy: page.contentSecurityPolicy,
  };
  return [pageEndpoint(() => answer), script, style];
}

function builtFile(folder: URL, name: string, contentType: string): Endpoint {
  const file = new StaticFile(folder, name, contentType);
  return file.immutable(`${DOCS_PATH}/${file.version}/${name}`);
}

function pageEndpoint(answer: () => Answer): Endpoint {
  return {
    method: "get",
    path: DOCS_PATH,
    headerNames: [],
    readsBody: false,
    isQuiet: true,
    answer,
  };
}
