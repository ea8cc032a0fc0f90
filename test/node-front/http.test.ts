import { frontUnderTest } from "../doubles/front-under-test.js";

/** What is tested of connections, requests and answers, over node:http. */
frontUnderTest.choice = "node";
await import("../api/http/answer-stream.test.js");
await import("../api/http/body-limits.test.js");
await import("../api/http/cors.test.js");
await import("../api/http/edge.test.js");
await import("../api/http/edge-connections.test.js");
await import("../api/http/paced-stream.test.js");
await import("../api/http/request-framing.test.js");
