import { Bucket, BucketError, placeOf } from "../../engine/bucket/bucket.js";
import type { BucketSettings } from "../../engine/bucket/bucket-settings.js";
import type { Logger } from "../../engine/log.js";
import type { Clock } from "../../engine/time/clock.js";

export interface RecordingsPlace {
  readonly recordingsBucket?: BucketSettings | undefined;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly vendorCa?: string | undefined;
}

/** Writes to the bucket and reads there; gives its place, undefined where none is set. Rejects with a BucketError. */
export async function checkRecordings(
  { recordingsBucket, vendorCa }: RecordingsPlace,
  clock: Clock,
): Promise<string | undefined> {
  if (recordingsBucket === undefined) return undefined;
  const authorities = vendorCa === undefined ? [] : [vendorCa];
  const bucket = new Bucket(recordingsBucket, { clock, authorities });
  try {
    await bucket.check();
  } finally {
    await bucket.close();
  }
  return placeOf(recordingsBucket);
}

/** A bucket that is away does not keep the server from starting: recordings wait. Rejects with a BucketError when it is wrong. */
export async function refuseWrongBucket(
  place: RecordingsPlace,
  clock: Clock,
  log: Logger,
): Promise<void> {
  try {
    await checkRecordings(place, clock);
  } catch (error) {
    if (!(error instanceof BucketError) || error.kind === "refused") throw error;
    const { message: reason } = error;
    log.warn(
      { reason },
      "the recordings bucket is unreachable; recordings wait in the data folder",
    );
  }
}
