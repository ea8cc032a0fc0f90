import { frontUnderTest } from "../doubles/front-under-test.js";

/** Calls of the telephone and how a server stops, over node:http and `ws`. */
frontUnderTest.choice = "node";
await import("../system/phone-streams.test.js");
await import("../system/phone-overload.test.js");
await import("../system/drains.test.js");
