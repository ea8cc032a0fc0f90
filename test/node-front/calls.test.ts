import { frontUnderTest } from "../doubles/front-under-test.js";

/** Calls of browsers, right and wrong ones, over node:http and `ws`. */
frontUnderTest.choice = "node";
await import("../system/bad-input.test.js");
await import("../system/hang-ups.test.js");
await import("../system/refusals.test.js");
await import("../system/web-stream.test.js");
