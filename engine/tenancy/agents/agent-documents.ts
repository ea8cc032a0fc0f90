import { invalidFields } from "../../request-error.js";

/** Throws RequestError `invalid_request` for the first id that is not a document of the organization. */
export function requireDocuments(
  ids: readonly string[],
  known: ReadonlySet<string>,
  path: string,
): void {
  const at = ids.findIndex((id) => !known.has(id));
  if (at === -1) return;
  const field = `${path}.${at}`;
  const message = "expected the id of a document of the organization";
  throw invalidFields([{ path: field, message }]);
}
