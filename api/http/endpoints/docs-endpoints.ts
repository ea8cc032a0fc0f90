import { docsPage } from "../../contract/openapi/docs-page.js";
import type { Answer } from "../answer/answer.js";
import { HttpRefusal } from "../answer/http-refusal.js";
import { ifBuilt, SCRIPT_TYPE, STYLE_TYPE, StaticFile } from "../answer/static-file.js";
import type { Endpoint } from "./endpoint.js";

export const DOCS_PATH = "/api/docs";

/** Where `build-docs.sh` leaves the files of Swagger UI. */
const BUILT_DOCS = new URL("../../../docs/", import.meta.url);

const NOT_BUILT = "the documentation page is not built: `npm run build` does it";

/**
 * The page that shows the OpenAPI document at the path `document`, and the library's files that it loads. A server that was
 * built without them, by `tsc` alone, takes calls all the same.
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
        throw new HttpRefusal(404, NOT_BUILT);
      }),
    ];
  }
  const { script, style } = files;
  const page = docsPage({
    document: `${basePath}${document}`,
    script: `${basePath}${script.path}`,
    style: `${basePath}${style.path}`,
  });
  // As bytes: a client that asks for them over and over and does not read holds none of our memory.
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
  return file.keptForever(`${DOCS_PATH}/${file.version}/${name}`);
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
