import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { MP3, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { languageModel, speechToText, textToSpeech } from "../../../../engine/vendors/registry.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { isPrivateAddress } from "../../../../engine/vendors/transport/private-addresses.js";
import type { VendorSettings } from "../../../../engine/vendors/vendor-settings.js";
import { RecordingListener } from "../recording-listener.js";
import { never } from "../sandboxed-vendors.js";

const PRIVATE = [
  "0.0.0.0",
  "192.0.0.8",
  "192.0.2.1",
  "192.88.99.1",
  "198.51.100.1",
  "203.0.113.1",
  "240.0.0.1",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:a9fe:a9fe",
  "::ffff:10.0.0.1",
  "::ffff:7f00:1",
  "0:0:0:0:0:ffff:127.0.0.1",
  "0000:0000:0000:0000:0000:FFFF:7F00:0001",
  "0:0:0:0:0:0:0:1",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::127.0.0.1",
  "64:FF9B::10.0.0.1",
  "64:ff9b:1::8.8.8.8",
  "64:ff9b::a9fe:a9fe",
  "febf::1",
  "64:ff9b::c633:6401",
  "2002:cb00:7101::",
  "2002:7f00:1::",
  "2002:c0a8:101::1",
  "2002:a00:1::",
  "2001::1",
  "2001:db8::1",
  "2001:20::1",
  "3fff::1",
  "5f00::1",
  "100::1",
  "100:0:0:0:ffff:ffff:ffff:ffff",
  "100:0:0:1::1",
  "fec0::1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fe80::1%eth0",
  "ff02::1",
  "ff05::2",
  // Spellings that only some programs take for an address, and not all for the same one.
  "010.0.0.1",
  "0x7f.0.0.1",
  "127.1",
  "2130706433",
  "[::1]",
  "127.0.0.1:80",
  "localhost",
  "",
];

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "100.63.255.255",
  "100.128.0.1",
  "172.15.255.255",
  "172.32.0.1",
  "192.169.0.1",
  "2606:4700::1111",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
  "64:FF9B::8.8.8.8",
  "2002:808:808::1",
  "0:0:0:0:0:FFFF:8.8.8.8",
  "2001:200::1",
  "2a00:1450:4001::8%eth0",
];

/** First and last address of each network, and the public ones beside them where there are such. */
const NETWORKS: readonly (readonly [before: string, first: string, last: string, after: string])[] =
  [
    ["", "0.0.0.0", "0.255.255.255", "1.0.0.0"],
    ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
    ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
    ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
    ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
    ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
    ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
    ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
    ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
    ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
    ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
    ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
    ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
    ["223.255.255.255", "224.0.0.0", "239.255.255.255", ""],
    ["", "240.0.0.0", "255.255.255.255", ""],
    ["", "::", "::ffff:ffff", "0:0:0:0:0:1::"],
    ["", "::ffff:0:0:0", "::ffff:0:ffff:ffff", "::ffff:1:0:0"],
    ["64:ff9b:0:ffff::", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::"],
    ["ff:ffff::", "100::", "100:0:0:1:ffff:ffff:ffff:ffff", "100:0:0:2::"],
    ["2000:ffff::", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
    ["2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"],
    ["3ffe:ffff::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"],
    ["5eff:ffff::", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f01::"],
    ["fbff:ffff::", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::"],
    ["fe7f:ffff::", "fe80::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""],
    ["", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""],
  ];

describe("private addresses", () => {
  for (const [before, first, last, after] of NETWORKS) {
    it(`go from ${first} to ${last}, and no further`, () => {
      for (const address of [first, last]) assert.equal(isPrivateAddress(address), true, address);
      for (const address of [before, after].filter((each) => each !== "")) {
        assert.equal(isPrivateAddress(address), false, address);
      }
    });
  }

  it("hide in the addresses of gateways, to the last one of each network", () => {
    for (const hidden of [
      "64:ff9b::10.255.255.255",
      "64:ff9b::192.168.255.255",
      "64:ff9b::172.31.255.255",
      "2002:aff:ffff::1",
      "2002:c0a8:ffff:ffff:ffff:ffff:ffff:ffff",
      "2002:ac1f:ffff::1",
    ]) {
      assert.equal(isPrivateAddress(hidden), true, hidden);
    }
    for (const open of ["64:ff9b::11.0.0.0", "2002:b00::1", "2002:c0a9::1"]) {
      assert.equal(isPrivateAddress(open), false, open);
    }
  });

  for (const address of PRIVATE) {
    it(`include ${address === "" ? "an empty text" : address}`, () => {
      assert.equal(isPrivateAddress(address), true);
    });
  }

  for (const address of PUBLIC) {
    it(`do not include ${address}`, () => assert.equal(isPrivateAddress(address), false));
  }
});

describe("a provider that an organization owns", () => {
  let server: Server;
  let port: number;
  let requestCount = 0;

  before(async () => {
    server = createServer((_request, response) => {
      requestCount++;
      response.writeHead(500).end();
    });
    server.on("connection", () => {
      requestCount++;
    });
    await new Promise<void>((resolve) => {
      server.listen(0, resolve);
    });
    port = (server.address() as AddressInfo).port;
  });

  after(() => {
    server.close();
  });

  function owned(baseUrl: string, clientOwned: boolean): VendorSettings {
    return { baseUrl, apiKey: "key", settings: {}, clientOwned };
  }

  async function attempts(baseHost: string, connections: Connections, clientOwned: boolean) {
    const context = { clock: new SystemClock(), connections };
    const http = owned(`http://${baseHost}:${port}`, clientOwned);
    const ws = owned(`ws://${baseHost}:${port}`, clientOwned);
    const speech = { text: "Hi", modelId: "m", speed: 1, language: "en", format: MP3 } as const;
    const chat = { modelId: "m", messages: [], temperature: 0, maxTokens: 1 };
    const listening = {
      language: "en",
      modelId: "m",
      format: PCM_16K,
      endpointingMs: 200,
    } as const;
    const ignore = () => undefined;
    const listener = new RecordingListener();
    return Promise.allSettled([
      languageModel("openai", http, context).complete(chat, ignore, never()),
      languageModel("ollama", http, context).complete(chat, ignore, never()),
      textToSpeech("elevenlabs", http, context).synthesize(speech, ignore, never()),
      textToSpeech("edge", ws, context).synthesize(speech, ignore, never()),
      speechToText("deepgram", ws, context).open(listening, listener, never()),
    ]);
  }

  for (const host of ["127.0.0.1", "[::1]", "localhost", "[::ffff:127.0.0.1]", "2130706433"]) {
    it(`cannot reach ${host}, by any vendor`, async () => {
      const connections = new Connections({
        clock: new SystemClock(),
        allowPrivateAddresses: false,
      });
      requestCount = 0;
      for (const result of await attempts(host, connections, true)) {
        assert.equal(result.status, "rejected");
        assert.equal(result.reason.fault, "refused");
        assert.match(result.reason.message, /private_address/);
      }
      assert.equal(requestCount, 0);
      await connections.close();
    });
  }

  it("can where the operator allows it, and so can the platform's own", async () => {
    const open = new Connections({ clock: new SystemClock(), allowPrivateAddresses: true });
    const guarded = new Connections({ clock: new SystemClock(), allowPrivateAddresses: false });
    for (const [connections, clientOwned] of [
      [open, true],
      [guarded, false],
    ] as const) {
      for (const result of await attempts("127.0.0.1", connections, clientOwned)) {
        assert.equal(result.status, "rejected");
        assert.doesNotMatch(result.reason.message, /private_address/);
      }
      await connections.close();
    }
  });
});
