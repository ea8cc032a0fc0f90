import assert from "node:assert/strict";
import { test } from "node:test";
import { isOriginPattern, matchesOrigin } from "../../../engine/security/origins.js";

for (const origin of [
  "https://shop.example.com",
  "http://localhost:3000",
  "http://[::1]:8080",
  "https://*.example.com",
  "https://*.example.com:8443",
  "capacitor://localhost",
  "ionic://localhost",
  "tauri://localhost",
  "chrome-extension://abcdefghijklmnop",
]) {
  test(`${origin} can be allowed, and matches itself`, () => {
    assert.equal(isOriginPattern(origin), true);
    assert.equal(matchesOrigin(origin, origin), true);
  });
}

for (const origin of [
  "",
  "*",
  "null",
  "localhost",
  "https://",
  "https://shop.example.com/",
  "https://shop.example.com:443",
  "https://Shop.example.com",
  "https://*",
  "https://*.com",
  "https://*.*.com",
  "https://a.*.example.com",
  "https://shop*.example.com",
  "https://user@shop.example.com",
  "capacitor://",
  "capacitor://localhost/index.html",
  "capacitor://*.example.com",
  "file:///index.html",
  "file://host",
  "data:text/html,x",
  "javascript://x",
  "wss://shop.example.com",
]) {
  test(`${origin} would match no page and is refused`, () => {
    assert.equal(isOriginPattern(origin), false);
  });
}

test("a wildcard matches one label", () => {
  const pattern = "https://*.example.com";
  const allowed = ["https://shop.example.com", "https://a-1.example.com"];
  const others = [
    "https://example.com",
    "https://a.b.example.com",
    "https://.example.com",
    "http://shop.example.com",
    "https://shop.example.com:8443",
    "https://shop.example.com.evil.test",
    "https://evil.test/.example.com",
    "https://evil.test#.example.com",
    "https://shopexample.com",
    "null",
    "",
  ];
  assert.deepEqual(
    allowed.filter((origin) => !matchesOrigin(pattern, origin)),
    [],
  );
  assert.deepEqual(
    others.filter((origin) => matchesOrigin(pattern, origin)),
    [],
  );
});
