import { once } from "node:events";
import { WebSocketServer } from "ws";

/** What a recognizer does that accepts every connection and tells no words. */
export const MUTE_WAYS = ["says nothing", "only pings", "floods SpeechStarted", "does not read"];

const EVERY_MS = 50;
const STARTED = JSON.stringify({
  type: "SpeechStarted",
  channel: [0, 1],
  timestamp: 0.1,
});

export interface MuteRecognizer {
  /** What stands for Deepgram's base address. */
  readonly url: string;
  close(): void;
}

/** Speaks as little of Deepgram's protocol as it may. */
export async function startMuteRecognizer(way: string): Promise<MuteRecognizer> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  await once(server, "listening");
  server.on("connection", (socket) => {
    socket.on("error", () => undefined);
    if (way === "does not read") socket.pause();
    const timer = setInterval(() => {
      if (way === "only pings") socket.ping();
      if (way === "floods SpeechStarted") socket.send(STARTED);
    }, EVERY_MS);
    socket.on("close", () => clearInterval(timer));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return {
    url: `ws://127.0.0.1:${address.port}`,
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}
