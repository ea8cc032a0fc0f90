import type { VendorError, VendorFault } from "../../vendors/contracts.js";

const WORDS: Readonly<Record<VendorFault, string>> = {
  unauthorized: "rejects the credentials",
  refused: "rejects the request: a setting or the model may be wrong",
  quotaExceeded: "says that the account has no quota left",
  notFound: "does not know the model or the address",
  rateLimited: "limits the rate of requests",
  unavailable: "is unavailable",
  timeout: "timed out",
  disconnected: "closed the connection",
  badAnswer: "sent an invalid response",
  aborted: "was cancelled",
};

/**
 * What went wrong at a vendor, for the people of an organization. The reason, which may tell of an account, is for the account's
 * owner: `isOwn` says that it is the organization's.
 */
export function vendorWords(error: VendorError, isOwn: boolean): string {
  const words = `${error.vendor} ${WORDS[error.fault]}`;
  return isOwn ? `${words} (${error.message})` : words;
}

/** As `vendorWords`, with the vendor's text, of a test of a provider: what was sent to the vendor holds no caller's words. */
export function vendorWordsOfTest(error: VendorError, isOwn: boolean): string {
  const words = vendorWords(error, isOwn);
  return isOwn && error.vendorText !== undefined ? `${words}: ${error.vendorText}` : words;
}
