import type { VendorError, VendorFault } from "../../vendors/contracts.js";

const WORDS: Readonly<Record<VendorFault, string>> = {
  unauthorized: "does not accept the credentials",
  refused: "refuses the request: a setting or the model may be wrong",
  quotaExceeded: "says that the account has no quota left",
  notFound: "does not know the model or the address",
  rateLimited: "takes no more requests for now",
  unavailable: "cannot be reached or is out of order",
  timeout: "did not answer in time",
  disconnected: "broke off the connection",
  badAnswer: "answered what cannot be understood",
  aborted: "was not waited for",
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
