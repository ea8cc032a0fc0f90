import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import * as fc from "fast-check";
import { maskedAddress } from "../../../api/livestream/stream-view.js";

test("a masked address shows the network and nothing of the host", () => {
  const examples = [
    ["203.0.113.77", "203.0.113.0"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
    ["2001:db8::6", "2001:db8::"],
    ["2001:db8::5:6:7:8:9", "2001:db8::"],
    ["::1", "::"],
    ["fe80::1", "fe80::"],
    ["", ""],
  ] as const;
  for (const [address, masked] of examples) assert.equal(maskedAddress(address), masked);
});

test("what is masked is an address, which masking does not change", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      fc.pre(isIP(address) !== 0);
      const masked = maskedAddress(address);
      assert.notEqual(isIP(masked), 0, `${address} becomes ${masked}`);
      assert.equal(maskedAddress(masked), masked);
    }),
  );
});
