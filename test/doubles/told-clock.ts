import { Changes } from "./changes.js";
import { VirtualClock } from "./virtual-clock.js";

/** Tells of each timer that is started and of each look at it: whoever waits for bytes looks when one comes. */
export class ToldClock extends VirtualClock {
  readonly changes = new Changes();
  startedTimerCount = 0;
  lookCount = 0;

  override after(delayMs: number, action: () => void) {
    this.startedTimerCount += 1;
    this.changes.tell();
    return super.after(delayMs, action);
  }

  override monotonicMs(): number {
    this.lookCount += 1;
    this.changes.tell();
    return super.monotonicMs();
  }
}
