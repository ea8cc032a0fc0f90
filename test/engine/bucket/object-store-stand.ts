import type { TestContext } from "node:test";
import { Bucket } from "../../../engine/bucket/bucket.js";
import type { BucketSettings } from "../../../engine/bucket/bucket-settings.js";
import { ObjectStore } from "../../../engine/sandbox/object-store/object-store.js";
import { Changes } from "../../doubles/changes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

export const BUCKET = "calls";
export const STORE_KEY = {
  accessKeyId: "the-key-of-the-store",
  secretAccessKey: "the-secret-of-the-store",
  region: "eu-central-1",
};

/** Starts an object store for one test, and returns it with the settings to reach it. */
export async function objectStore(context: TestContext, onChange?: () => void) {
  const deps = onChange === undefined ? {} : { onChange };
  const store = await ObjectStore.start({ key: STORE_KEY, bucket: BUCKET, ...deps });
  context.after(() => store.stop());
  const settings: BucketSettings = {
    name: BUCKET,
    prefix: "one/",
    endpoint: store.url,
    ...STORE_KEY,
  };
  return { store, settings };
}

/** Starts a store with its bucket; `wrong` replaces some of the bucket's settings. */
export async function bucketInStore(context: TestContext, wrong: Partial<BucketSettings> = {}) {
  const changes = new Changes();
  const { store, settings } = await objectStore(context, changes.tell);
  const clock = new VirtualClock();
  const bucket = new Bucket({ ...settings, ...wrong }, { clock, authorities: [] });
  context.after(() => bucket.close());
  return { store, bucket, clock, changes };
}
