import assert from "node:assert/strict";
import { test } from "node:test";
import { IngestStand } from "./ingest-stand.js";
import { listedStreams } from "./listing-watch.js";

/** The longest secret that nginx-rtmp accepts, with every kind of character. */
const LONG_SECRET = "aZ09_.~-".repeat(30);

const WITH_KEYS = {
  arePublishKeysChecked: true,
  stateApi: { PUBLISH_KEYS: `demo=open-sesame,other=another-secret,long=${LONG_SECRET}` },
} as const;

test("with publishing keys, a broadcaster with the right secret is accepted", async (t) => {
  const stand = await IngestStand.start(t, WITH_KEYS);
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo?secret=open-sesame");
  await listing.until("added");
  stand.broadcast(t, `long?secret=${LONG_SECRET}`);
  await listing.until("added");
  assert.deepEqual(
    (await listedStreams(stand.stateApiPort)).map(({ streamKey }) => streamKey),
    ["demo", "long"],
  );
  const said = [stand.log, ...stand.lines].join("\n");
  for (const secret of ["open-sesame", LONG_SECRET]) assert.ok(!said.includes(secret));
});

const REFUSED = {
  "no secret": "demo",
  "a wrong secret": "demo?secret=open-sesame2",
  "the secret of another": "demo?secret=another-secret",
  "an unknown key": "nobody?secret=open-sesame",
  "a second name": "nobody?secret=open-sesame&name=demo",
  "a secret that would end the JSON": 'demo?secret="},{"path":"live/other',
  "a secret that is escaped": "demo?secret=open%2Dsesame",
};

test("with publishing keys, every other broadcaster is refused", async (t) => {
  const stand = await IngestStand.start(t, WITH_KEYS);
  for (const [which, key] of Object.entries(REFUSED)) {
    const broadcaster = stand.broadcast(t, key);
    await broadcaster.untilRefused();
    assert.notEqual(broadcaster.words, "", which);
  }
  assert.deepEqual(await listedStreams(stand.stateApiPort), []);
  assert.doesNotMatch(stand.log, /broadcast begins/);
});

test("with publishing keys and no state API, no broadcaster is accepted", async (t) => {
  const stand = await IngestStand.start(t, WITH_KEYS);
  await stand.stateApi.stop();
  const broadcaster = stand.broadcast(t, "demo?secret=open-sesame");
  await broadcaster.untilRefused();
  assert.doesNotMatch(stand.log, /broadcast begins/);
  assert.ok(!stand.lines.join("\n").includes("open-sesame"));
});
