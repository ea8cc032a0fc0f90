import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { test } from "node:test";
import {
  OrganizationLookups,
  type ResolveName,
} from "../../../../engine/vendors/transport/connections.js";

const LOOKUPS_RUNNING_MAX = 8;
const LOOKUPS_WAITING_MAX = 256;

const PUBLIC: LookupAddress = { address: "192.0.1.1", family: 4 };
const PRIVATE: LookupAddress = { address: "10.0.0.1", family: 4 };

function find(lookups: OrganizationLookups, hostname: string, all = true) {
  return new Promise<readonly unknown[]>((resolve) => {
    lookups.lookup(hostname, { all }, (...answer: readonly unknown[]) => resolve(answer));
  });
}

function lookupsBy(resolve: ResolveName, isPublicOnly = true) {
  return new OrganizationLookups({ isPublicOnly, resolve });
}

test("private addresses are taken out of what a name resolves to, where they are not allowed", async () => {
  const resolve = () => Promise.resolve([PRIVATE, PUBLIC]);
  assert.deepEqual(await find(lookupsBy(resolve), "a.example.com"), [null, [PUBLIC]]);
  assert.deepEqual(await find(lookupsBy(resolve), "a.example.com", false), [null, "192.0.1.1", 4]);
  assert.deepEqual(await find(lookupsBy(resolve, false), "a.example.com"), [
    null,
    [PRIVATE, PUBLIC],
  ]);
  const only = lookupsBy(() => Promise.resolve([PRIVATE]));
  const [error] = await find(only, "a.example.com");
  assert.ok(error instanceof Error && error.name === "PrivateAddressError");
});

test("a name that has no public address is not looked up, and neither is an address", async () => {
  const lookups = lookupsBy(() => assert.fail("looked up"));
  for (const name of ["localhost", "a.localhost", "db", "host.docker.internal", "printer.local."]) {
    const [error] = await find(lookups, name);
    assert.ok(error instanceof Error && error.name === "PrivateAddressError", name);
  }
  assert.deepEqual(await find(lookups, "192.0.1.1"), [null, [PUBLIC]]);
});

test("names of which nothing is known fail with the name servers' own word", async () => {
  const fault = Object.assign(new Error("no"), { code: "ENOTFOUND" });
  const lookups = lookupsBy(() => Promise.reject(fault));
  assert.deepEqual(await find(lookups, "a.example.com"), [fault, []]);
});

test("the system resolves names if the operator allows private addresses, and name servers resolve public ones", async () => {
  const [, addresses] = await find(new OrganizationLookups({ isPublicOnly: false }), "localhost");
  assert.ok(Array.isArray(addresses) && addresses.length > 0);
  const [error] = await find(
    new OrganizationLookups({ isPublicOnly: true }),
    `${"x".repeat(99)}.y`,
  );
  assert.ok(error instanceof Error && error.name !== "PrivateAddressError");
});

test("an organization looks up a few names at a time, more wait, and the rest fails at once", async () => {
  const asked: { readonly name: string; readonly answer: () => void }[] = [];
  const resolve = (name: string) =>
    new Promise<readonly LookupAddress[]>((answer) => {
      asked.push({ name, answer: () => answer([PUBLIC]) });
    });
  const lookups = lookupsBy(resolve);
  const found = Array.from({ length: LOOKUPS_RUNNING_MAX + LOOKUPS_WAITING_MAX }, (_, n) => {
    return find(lookups, `${n}.example.com`);
  });
  const [refused] = await find(lookups, "late.example.com");
  assert.ok(refused instanceof Error && "code" in refused);
  assert.equal(refused.code, "organization_share_used_up");
  assert.equal(asked.length, LOOKUPS_RUNNING_MAX);
  const other = find(
    lookupsBy(() => Promise.resolve([PUBLIC])),
    "other.example.com",
  );
  assert.deepEqual(await other, [null, [PUBLIC]]);
  for (let n = 0; n < found.length; n += 1) {
    asked[n]?.answer();
    assert.deepEqual(await found[n], [null, [PUBLIC]]);
  }
  assert.deepEqual(
    asked.map(({ name }) => name),
    found.map((_, n) => `${n}.example.com`),
  );
});
