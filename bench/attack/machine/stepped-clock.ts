import { readFileSync } from "node:fs";

/** What the process prints when its clock has been set. */
export const STEPPED = "the clock is set";

/**
 * Loaded into a server before its own code: on SIGUSR2 its wall clock, and no other process's, is moved by the milliseconds in
 * the file that CLOCK_OFFSET_FILE names. The monotonic clock goes on, as it does when a machine's clock is set.
 */
function install(offsetFile: string): void {
  const RealDate = Date;
  let offsetMs = 0;
  class SteppedDate extends RealDate {
    constructor(...given: [] | ConstructorParameters<DateConstructor>) {
      if (given.length === 0) super(SteppedDate.now());
      else super(...given);
    }

    static override now(): number {
      return RealDate.now() + offsetMs;
    }
  }
  Reflect.set(globalThis, "Date", SteppedDate);
  process.on("SIGUSR2", () => {
    offsetMs = Number(readFileSync(offsetFile, "utf8"));
    console.log(STEPPED);
  });
}

const offsetFile = process.env["CLOCK_OFFSET_FILE"];
if (offsetFile !== undefined) install(offsetFile);
