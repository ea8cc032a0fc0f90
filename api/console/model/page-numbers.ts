/** Far more than anybody turns. */
const PAGES_MAX = 10_000;

/** How many entries stand before the page that the address bar names; none where it names no page. */
export function skipOf(search: URLSearchParams, perPage: number): number {
  const page = Number(search.get("page") ?? 1);
  const isPage = Number.isInteger(page) && page >= 1 && page <= PAGES_MAX;
  return isPage ? (page - 1) * perPage : 0;
}
