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
 * What went wrong at a vendor, for an organization's users. `isOwn`: the account at the vendor belongs to the
 * organization; only then is the vendor's reason included, since it may describe the account.
 */
export function vendorWords(error: VendorError, isOwn: boolean): string {
  const words = `${error.vendor} ${WORDS[error.fault]}`;
  return isOwn ? `${words} (${error.message})` : words;
}

/** As `vendorWords`, plus the vendor's text: a test of a provider sends no words of a caller to the vendor. */
export function vendorWordsOfTest(error: VendorError, isOwn: boolean): string {
  const words = vendorWords(error, isOwn);
  return isOwn && error.vendorText !== undefined ? `${words}: ${error.vendorText}` : words;
}
