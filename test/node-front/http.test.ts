import { frontUnderTest } from "../doubles/front-under-test.js";

/** What is tested of connections, requests and answers, over node:http. */
frontUnderTest.choice = "node";
await import("../api/http/answer/answer-stream.test.js");
await import("../api/http/request/body-limits.test.js");
await import("../api/http/request/request-body.test.js");
await import("../api/http/request/cors.test.js");
await import("../api/http/edge.test.js");
await import("../api/http/edge-connections.test.js");
await import("../api/http/answer/paced-stream.test.js");
await import("../api/http/backend/request-framing.test.js");
