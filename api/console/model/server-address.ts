/**
 * The sub-path at which this page was loaded, such as `/voice`; empty at the root of its origin. The server names the sub-path of
 * its PUBLIC_BASE_URL in the page; without that prefix the page was loaded from the server directly.
 */
export const BASE_PATH: string = basePathOf(
  location.pathname,
  document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? "",
);
/** Where the API is, without a slash at the end. */
export const SERVER_URL = `${location.origin}${BASE_PATH}`;

function basePathOf(pagePath: string, named: string): string {
  return named !== "" && pagePath.startsWith(`${named}/`) ? named : "";
}
