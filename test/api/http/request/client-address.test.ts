import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressGroup,
  ClientAddresses,
  formatAddress,
} from "../../../../api/http/request/client-address.js";

test("without trusted proxies a client's header is ignored", () => {
  const addresses = new ClientAddresses([]);
  assert.equal(addresses.resolve("203.0.113.9", "10.1.1.1"), "203.0.113.9");
});

test("a trusted proxy reports the client's address", () => {
  const addresses = new ClientAddresses(["10.0.0.0/8"]);
  assert.equal(addresses.resolve("10.1.2.3", "198.51.100.7"), "198.51.100.7");
  assert.equal(addresses.resolve("203.0.113.9", "198.51.100.7"), "203.0.113.9");
});

test("the client's address is the last one in the chain that is not a trusted proxy's", () => {
  const addresses = new ClientAddresses(["10.0.0.0/8", "2001:db8::/32"]);
  const forged = "1.1.1.1, 198.51.100.7, 10.9.9.9";
  assert.equal(addresses.resolve("10.1.2.3", forged), "198.51.100.7");
  assert.equal(addresses.resolve("2001:db8::1", "198.51.100.7:4711"), "198.51.100.7");
  assert.equal(addresses.resolve("10.1.2.3", "[2a00::5]:443"), "2a00::5");
});

test("a client is the same one whether or not its proxy writes IPv4 inside IPv6", () => {
  const addresses = new ClientAddresses(["10.0.0.0/8"]);
  for (const hop of [
    "198.51.100.7",
    "::ffff:198.51.100.7",
    "[::FFFF:c633:6407]:4711",
    "0:0:0:0:0:ffff:c633:6407",
  ]) {
    assert.equal(addresses.resolve("10.1.2.3", hop), "198.51.100.7", hop);
  }
  assert.equal(addresses.resolve("10.1.2.3", "::ffff:0.0.0.0"), "0.0.0.0");
  assert.equal(addresses.resolve("10.1.2.3", "::ffff:1.2.3.4%eth0"), "1.2.3.4");
  assert.equal(addresses.resolve("10.1.2.3", "::fffe:1.2.3.4"), "::fffe:102:304");
  assert.equal(addresses.resolve("10.1.2.3", "1.1.1.1, ::ffff:10.9.9.9"), "1.1.1.1");
});

test("text that is not an address ends the chain", () => {
  const addresses = new ClientAddresses(["10.0.0.0/8"]);
  assert.equal(addresses.resolve("10.1.2.3", "unknown"), "10.1.2.3");
  assert.equal(addresses.resolve("10.1.2.3", "1.1.1.1, nonsense, 10.2.2.2"), "10.2.2.2");
  assert.equal(addresses.resolve("10.1.2.3", ","), "10.1.2.3");
});

test("a chain beyond the limit yields the last hop that was read", () => {
  const addresses = new ClientAddresses(["10.0.0.0/8"]);
  const chain = ["1.1.1.1", ...Array.from({ length: 40 }, () => "10.0.0.1")].join(",");
  assert.equal(addresses.resolve("10.1.2.3", chain), "10.0.0.1");
});

test("a trusted proxy that is not an address or block is refused and named", () => {
  for (const wrong of ["proxy.local", "10.0.0.0/33", "::/129", "10.0.0.0/8/9", "10.0.0.0/x", ""]) {
    assert.throws(() => new ClientAddresses([wrong]), {
      name: "TypeError",
      message: `"${wrong}" is neither an IP address nor a CIDR block`,
    });
  }
});

test("socket addresses are converted to text", () => {
  const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1];
  const ipv6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  assert.equal(formatAddress(Uint8Array.from([127, 0, 0, 1])), "127.0.0.1");
  assert.equal(formatAddress(Uint8Array.from(mapped)), "127.0.0.1");
  assert.equal(formatAddress(Uint8Array.from(ipv6)), "2001:db8::1");
  assert.equal(formatAddress(new Uint8Array(0)), "unknown");
});

test("all addresses of one IPv6 network count as one client, in any spelling", () => {
  const network = addressGroup("2001:db8:0:1::9");
  for (const address of [
    "2001:db8:0:1:a:b:c:d",
    "2001:0db8:0000:0001:0000:0000:0000:0001",
    "2001:DB8:0:1::",
    "2001:db8:0:1::192.0.2.1",
    "2001:db8:0:1::9%eth0",
  ]) {
    assert.equal(addressGroup(address), network, address);
  }
  assert.notEqual(addressGroup("2001:db8:0:2::9"), network);
  assert.notEqual(addressGroup("2001:db8:1:1::9"), network);
});

test("an IPv4 address counts as itself, even inside an IPv6 address", () => {
  for (const address of [
    "203.0.113.9",
    "::ffff:203.0.113.9",
    "::FFFF:cb00:7109",
    "0:0:0:0:0:ffff:203.0.113.9",
    "64:ff9b::203.0.113.9",
    "::ffff:0:203.0.113.9",
    "2002:cb00:7109:5::1",
    "2002:cb00:7109:6::1",
  ]) {
    assert.equal(addressGroup(address), "203.0.113.9", address);
  }
  assert.notEqual(addressGroup("64:ff9b::203.0.113.10"), "203.0.113.9");
  assert.equal(addressGroup("unknown"), "unknown");
});

test("a client has one spelling of its address in the log, whatever its proxy writes", () => {
  const addresses = new ClientAddresses(["10.0.0.0/8"]);
  for (const hop of ["2001:DB8:0:0::7", "[2001:0db8::7]:4711", "2001:db8:0:0:0:0:0:7%eth0"]) {
    assert.equal(addresses.resolve("10.1.2.3", hop), "2001:db8::7", hop);
  }
});
