import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { TestServer } from "./test-server.js";

const LIMIT = 3;
const WRONG_KEY = `vk_${"0".repeat(48)}`;

/**
 * Each list is one client, in the forms that a proxy or a network may write its address; one more than the limit
 * allows.
 */
const CLIENTS: readonly (readonly string[])[] = [
  ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:0DB8:0:1:ffff::9", "[2001:db8:0:1:a:b:c:d]:4711"],
  ["198.51.100.7", "::ffff:198.51.100.7", "[::FFFF:c633:6407]:4711", "198.51.100.7:99"],
];
const OTHERS = ["2001:db8:0:2::1", "198.51.100.8"];

let server: TestServer;
before(async () => {
  server = await TestServer.start({
    environment: {
      TRUSTED_PROXIES: "127.0.0.1",
      VOICE_CONNECTIONS_PER_MINUTE: String(LIMIT),
      AUTH_REQUESTS_PER_MINUTE: String(LIMIT),
      REQUESTS_PER_MINUTE: String(LIMIT),
    },
  });
});
after(() => server.close());

function voice(forwardedFor: string): Promise<number> {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws/voice`, {
    headers: { "x-forwarded-for": forwardedFor },
  });
  return new Promise((resolve) => socket.once("close", resolve));
}

async function signIn(forwardedFor: string): Promise<number> {
  const response = await fetch(`${server.url}/api/auth/signin`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": forwardedFor },
    body: JSON.stringify({ email: "nobody@example.com", password: "a wrong password" }),
  });
  return response.status;
}

async function webhook(forwardedFor: string): Promise<number> {
  const response = await fetch(`${server.url}/api/telephony/voice?api_key=${WRONG_KEY}`, {
    method: "POST",
    headers: { "x-forwarded-for": forwardedFor },
    body: new URLSearchParams({ CallSid: "CA1" }),
  });
  return response.status;
}

const DOORS = [
  { name: "voice connections", knock: voice, refused: 4001, limited: 4029 },
  { name: "sign-in", knock: signIn, refused: 401, limited: 429 },
  { name: "wrong keys of the telephone", knock: webhook, refused: 401, limited: 429 },
];

describe("a limit by address treats an IPv6 network, and every spelling of an address, as one client", () => {
  for (const { name, knock, refused, limited } of DOORS) {
    test(name, async () => {
      for (const spellings of CLIENTS) {
        const answers: number[] = [];
        for (const spelling of spellings) answers.push(await knock(spelling));
        assert.deepEqual(answers, [refused, refused, refused, limited], spellings[0]);
      }
      for (const other of OTHERS) assert.equal(await knock(other), refused, other);
    });
  }
});
