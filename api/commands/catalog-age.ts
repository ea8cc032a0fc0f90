import { SystemClock } from "../../engine/time/clock.js";
import { catalogAgeDays } from "../../engine/vendors/model-catalog.js";

/** Vendors announce a model's retirement some months ahead: an older catalog still lists models that are gone. */
const AGE_MAX_DAYS = 90;

const days = catalogAgeDays(new SystemClock().epochMs());
if (days > AGE_MAX_DAYS) {
  process.stderr.write(
    `Warning: the newest row of engine/vendors/model-catalog.ts was checked ${days} days ago. ` +
      "Compare the catalog with the pages that its rows name, and date those that you have read.\n",
  );
}
