import { docsPage } from "../contract/docs-page.js";
import type { Answer } from "./answer.js";
import { BUILT_DOCS, DocsFile } from "./docs-files.js";
import type { Endpoint } from "./endpoint.js";
import { HttpRefusal } from "./http-refusal.js";

export const DOCS_PATH = "/api/docs";

const NOT_BUILT = "the documentation page is not built: `npm run build` does it";

/**
 * The page that shows the OpenAPI document at the path `document`, and the library's files that it loads. A server that was
 * built without them, by `tsc` alone, takes calls all the same.
 */
export function docsEndpoints(document: string, folder = BUILT_DOCS): readonly Endpoint[] {
  const files = builtFiles(folder);
  if (files === undefined) {
    return [
      pageEndpoint(() => {
        throw new HttpRefusal(404, NOT_BUILT);
      }),
    ];
  }
  const { script, style } = files;
  const page = docsPage({ document, script: script.path, style: style.path });
  // As bytes: a client that asks for them over and over and does not read holds none of our memory.
  const answer: Answer = {
    status: 200,
    contentType: "text/html; charset=utf-8",
    body: Buffer.from(page.html),
    policy: page.contentSecurityPolicy,
  };
  return [pageEndpoint(() => answer), script.endpoint, style.endpoint];
}

function builtFiles(folder: URL) {
  try {
    return {
      script: new DocsFile(folder, "swagger-ui.js", "text/javascript; charset=utf-8"),
      style: new DocsFile(folder, "swagger-ui.css", "text/css; charset=utf-8"),
    };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
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
