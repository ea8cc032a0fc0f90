import type { TestContext } from "node:test";
import type { BucketSettings } from "../../../engine/bucket/bucket-settings.js";
import { ObjectStore } from "../../../engine/sandbox/object-store/object-store.js";

export const BUCKET = "calls";
export const STORE_KEY = {
  accessKeyId: "the-key-of-the-store",
  secretAccessKey: "the-secret-of-the-store",
  region: "eu-central-1",
};

/** An object store for one test, and the settings with which it is reached. */
export async function objectStore(context: TestContext, onChange?: () => void) {
  const around = onChange === undefined ? {} : { onChange };
  const store = await ObjectStore.start({ key: STORE_KEY, bucket: BUCKET, ...around });
  context.after(() => store.stop());
  const settings: BucketSettings = {
    name: BUCKET,
    prefix: "one/",
    endpoint: store.url,
    ...STORE_KEY,
  };
  return { store, settings };
}
