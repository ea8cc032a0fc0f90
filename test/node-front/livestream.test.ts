import { frontUnderTest } from "../doubles/front-under-test.js";

/** The tests that depend on how connections are served, over node:http. */
frontUnderTest.choice = "node";
await import("../api/livestream/slow-clients.test.js");
await import("../api/livestream/events.test.js");
