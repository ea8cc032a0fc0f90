import assert from "node:assert/strict";
import { test } from "node:test";
import { vendorWords } from "../../../../engine/tenancy/providers/vendor-words.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";

test("only the owner of an account sees the vendor's own text, which may describe the account", () => {
  const error = new VendorError("openai", "quotaExceeded", "org-123 owes 4 dollars");
  const words = "openai says that the account has no quota left";
  assert.equal(vendorWords(error, false), words);
  assert.equal(vendorWords(error, true), `${words} (org-123 owes 4 dollars)`);
});
