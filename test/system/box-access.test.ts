import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sessionProcessCount } from "../../api/cluster/worker-process-count.js";
import { frontUnderTest } from "../doubles/front-under-test.js";
import { SilentLogger } from "../doubles/silent-logger.js";
import {
  type AccessStand,
  oneCallOfOneToken,
  oneTimeOfOneToken,
  watchesThatEnd,
} from "./access-trials.js";
import { BoxStand } from "./box-stand.js";

const asked = { workers: 2, httpFront: frontUnderTest.choice };

// Elsewhere one process carries all calls, which every other test tests.
const processCount = await sessionProcessCount(asked, new SilentLogger());
if (processCount > 1) describe("access to a box with two processes", boxTests);
else test("there is one process", () => assert.equal(processCount, 1));

function boxTests(): void {
  let box: BoxStand;
  let stand: AccessStand;
  before(async () => {
    box = await BoxStand.start();
    await box.listening();
    const { url, tenancy, customers } = box;
    stand = { urls: [url], database: box.box.database, tenancy, customers };
  });
  after(() => box.stop());

  test("a token has one call, however many connections show it to whichever process", () =>
    oneCallOfOneToken(stand));

  test("the time of a token counts over reconnections to any process", () =>
    oneTimeOfOneToken(stand));

  test("watches and tokens end with the key or the member, at every process", () =>
    watchesThatEnd(stand));
}
