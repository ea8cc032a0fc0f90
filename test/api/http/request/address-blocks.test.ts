import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressBlocks, isAddressBlock } from "../../../../api/http/request/address-blocks.js";

test("an address is in the blocks that contain it", () => {
  const blocks = new AddressBlocks(["10.0.0.0/8", "192.0.2.7", "fd00::/8", "::1"]);
  const spellings = ["::ffff:10.1.2.3", "::ffff:a01:203", "0:0:0:0:0:FFFF:0a01:0203", "FD12:0::9"];
  for (const inside of [
    "10.255.0.1",
    "192.0.2.7",
    "fd12::9",
    "::1",
    "0:0:0:0:0:0:0:1",
    ...spellings,
  ]) {
    assert.ok(blocks.has(inside), inside);
  }
  for (const outside of [
    "11.0.0.1",
    "192.0.2.8",
    "fe80::1",
    "::2",
    "",
    "unknown",
    "10.0.0.0/8",
    "010.0.0.1",
    "10.1",
  ]) {
    assert.ok(!blocks.has(outside), outside);
  }
});

test("an invalid block is refused and named", () => {
  for (const entry of ["", "10.0.0", "10.0.0.0/33", "::1/129", "10.0.0.0/8/8", "10.0.0.0/x", "a"]) {
    assert.ok(!isAddressBlock(entry), entry);
    assert.throws(
      () => new AddressBlocks(["::1", entry]),
      new TypeError(`"${entry}" is neither an IP address nor a CIDR block`),
    );
  }
});

test("an IPv4 block that is written inside IPv6 contains both forms of its addresses", () => {
  const blocks = new AddressBlocks(["::ffff:10.0.0.0/104"]);
  for (const inside of ["10.1.2.3", "::ffff:10.1.2.3"]) assert.ok(blocks.has(inside), inside);
  assert.ok(!blocks.has("11.0.0.1"));
});
