import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { workerCount } from "../../api/cluster/worker-process-count.js";
import { frontUnderTest } from "../doubles/front-under-test.js";
import { SilentLogger } from "../doubles/silent-logger.js";
import {
  type AccessStand,
  oneCallOfOneToken,
  oneTimeOfOneToken,
  watchesThatEnd,
} from "./access-trials.js";
import { eventually } from "./eventually.js";
import { RefusingVendor } from "./refusing-vendor.js";
import type { Customer } from "./test-customers.js";
import { WorkersStand } from "./workers-stand.js";

/** Concurrent calls: each process gets some of them. */
const CALLS = 12;
/** Concurrent connections: each process gets some of them. */
const CONNECTIONS = 24;
const asked = { workers: 2, httpBackend: frontUnderTest.choice };

const processCount = await workerCount(asked, new SilentLogger());
if (processCount > 1) describe("the processes of a server", boxTests);
else test("this platform runs only one process", () => assert.equal(processCount, 1));

function boxTests(): void {
  let stand: WorkersStand;
  let access: AccessStand;
  before(async () => {
    stand = await WorkersStand.start({
      ALLOW_PRIVATE_PROVIDERS: "true",
      REQUESTS_PER_MINUTE: "100000",
    });
    await stand.listening();
    const { url, tenancy, customers } = stand;
    access = { urls: [url], database: stand.server.database, tenancy, customers };
  });
  after(() => stand.stop());

  /** Returns the statuses of requests with the key at all processes, each status once. */
  async function statuses(apiKey: string): Promise<readonly number[]> {
    const answers = Array.from({ length: CONNECTIONS }, async () => {
      const answer = await fetch(`${stand.url}/api/dashboard/agents`, {
        headers: { "x-api-key": apiKey },
      });
      await answer.arrayBuffer();
      return answer.status;
    });
    return [...new Set(await Promise.all(answers))];
  }

  async function secondKey({ apiKey, tenant }: Customer) {
    const { id } = tenant.organization;
    const made = await stand.tenancy.apiKeys.create(id, { name: "Website" });
    return { ...made, with: { headers: { "x-api-key": apiKey } } };
  }

  test("a key that is revoked at one process is refused at every process", async () => {
    const customer = await stand.customers.customer();
    for (let round = 0; round < 2; round += 1) {
      const { record, rawKey, with: others } = await secondKey(customer);
      assert.deepEqual(await statuses(rawKey), [200]);
      const url = `${stand.url}/api/dashboard/api-keys/${record.id}`;
      const revoked = await fetch(url, { method: "DELETE", ...others });
      assert.ok(revoked.ok, await revoked.text());
      assert.deepEqual(await statuses(rawKey), [401]);
    }
  });

  test("a token allows one call, however many connections use it at any processes", () =>
    oneCallOfOneToken(access));

  test("the time of a token counts across reconnections to any process", () =>
    oneTimeOfOneToken(access));

  test("watches and tokens end at every process when the key is revoked or the member removed", () =>
    watchesThatEnd(access));

  test("a vendor that has failed at one process is skipped at every process, including those that start later", async (context) => {
    const vendor = await RefusingVendor.of(stand, context);
    const { url } = stand;
    assert.equal(await vendor.reply(url), "yes");
    await vendor.isKnownAt(url);
    const replies = await Promise.all(Array.from({ length: CALLS }, () => vendor.reply(url)));
    assert.deepEqual([...new Set(replies)], ["yes"]);
    assert.equal(vendor.requestCount, 1);
    assert.equal(await stand.metric("parley_vendor_breakers_open"), 1);
    const before = stand.server.pids();
    for (const pid of before) process.kill(pid, "SIGKILL");
    await eventually("processes that replace the lost ones", () => {
      const pids = stand.server.pids();
      return (pids.length === 2 && !pids.some((pid) => before.includes(pid))) || undefined;
    });
    await vendor.isKnownAt(url);
  });

  test("an organization that the primary process suspends is refused at every process", async () => {
    const customer = await stand.customers.customer();
    assert.deepEqual(await statuses(customer.apiKey), [200]);
    await stand.tenancy.organizations.suspend(customer.email);
    assert.deepEqual(await statuses(customer.apiKey), [403]);
  });
}
