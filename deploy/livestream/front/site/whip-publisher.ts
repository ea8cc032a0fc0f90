import type { CancelTimer, PageClock } from "./page-clock.js";

export type PublisherState = "connecting" | "live" | "reconnecting";

/** Why a broadcast ended without the broadcaster stopping it. */
export type PublishFault = "refused" | "noWebRtc" | "unreachable" | "lost";

export interface PublisherListener {
  readonly onState: (state: PublisherState) => void;
  /** Called once; the publisher is closed by then. */
  readonly onFault: (fault: PublishFault) => void;
}

/** Host candidates are gathered within milliseconds; an offer without the others still connects. */
const GATHERING_MAX_MS = 2_000;
const ANSWER_MAX_MS = 10_000;
/** After a change of network the connection is usually back within seconds. */
const DISCONNECTED_MAX_MS = 5_000;
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 8_000];

/** Sends camera and microphone over WebRTC to a WHIP endpoint (RFC 9725), and reconnects when the network is lost. */
export class WhipPublisher {
  readonly #url: string;
  readonly #media: MediaStream;
  readonly #listener: PublisherListener;
  readonly #clock: PageClock;
  readonly #over = new AbortController();
  #connection: RTCPeerConnection | undefined;
  /** The URL of the session at the ingest; a DELETE request ends the session. */
  #sessionUrl: string | undefined;
  #cancelTimer: CancelTimer = () => undefined;
  #retries = 0;
  #hasBeenLive = false;

  constructor(url: string, media: MediaStream, listener: PublisherListener, clock: PageClock) {
    this.#url = url;
    // A separate MediaStream, because its tracks change with the chosen devices.
    this.#media = new MediaStream(media.getTracks());
    this.#listener = listener;
    this.#clock = clock;
  }

  start(): void {
    this.#listener.onState("connecting");
    void this.#connect();
  }

  /** Also ends the session at the ingest. */
  stop(): void {
    this.#over.abort();
    this.#disconnect();
  }

  /** Replaces the audio or video track, in the current session and in those after a reconnect. */
  async replaceTrack(track: MediaStreamTrack): Promise<void> {
    for (const old of this.#media.getTracks()) {
      if (old.kind === track.kind) this.#media.removeTrack(old);
    }
    this.#media.addTrack(track);
    const sender = this.#connection?.getSenders().find((each) => each.track?.kind === track.kind);
    await sender?.replaceTrack(track);
  }

  async #connect(): Promise<void> {
    const connection = new RTCPeerConnection();
    this.#connection = connection;
    connection.addEventListener("connectionstatechange", () => this.#onConnectionState(connection));
    for (const track of this.#media.getTracks()) {
      const transceiver = connection.addTransceiver(track, {
        direction: "sendonly",
        streams: [this.#media],
      });
      if (track.kind === "video") preferH264(transceiver);
    }
    try {
      await connection.setLocalDescription();
      await this.#gathered(connection);
      const sdp = connection.localDescription?.sdp ?? "";
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/sdp" },
        body: sdp,
        signal: AbortSignal.any([this.#over.signal, AbortSignal.timeout(ANSWER_MAX_MS)]),
      });
      const answer = await response.text();
      if (this.#over.signal.aborted || connection !== this.#connection) return;
      if (response.status !== 201) return this.#onRefusal(response.status);
      const location = response.headers.get("location");
      this.#sessionUrl = location === null ? undefined : new URL(location, response.url).href;
      await connection.setRemoteDescription({ type: "answer", sdp: answer });
    } catch {
      if (!this.#over.signal.aborted && connection === this.#connection) this.#retry("unreachable");
    }
  }

  #gathered(connection: RTCPeerConnection): Promise<void> {
    if (connection.iceGatheringState === "complete") return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#clock.after(GATHERING_MAX_MS, resolve);
      connection.addEventListener("icegatheringstatechange", () => {
        if (connection.iceGatheringState !== "complete") return;
        cancel();
        resolve();
      });
    });
  }

  /**
   * A wrong key stays wrong. After a network loss the ingest may still have the old session, and refuses another one
   * until it has noticed; an ingest that is down may come back.
   */
  #onRefusal(status: number): void {
    const isKeyWrong = status === 401 || status === 403;
    if (this.#hasBeenLive && !isKeyWrong) this.#retry("unreachable");
    else this.#fail(status === 503 || status === 404 ? "noWebRtc" : "refused");
  }

  #onConnectionState(connection: RTCPeerConnection): void {
    if (connection !== this.#connection) return;
    this.#cancelTimer();
    switch (connection.connectionState) {
      case "connected":
        this.#retries = 0;
        this.#hasBeenLive = true;
        this.#listener.onState("live");
        break;
      case "disconnected":
        this.#listener.onState("reconnecting");
        this.#cancelTimer = this.#clock.after(DISCONNECTED_MAX_MS, () => this.#retry("lost"));
        break;
      case "failed":
        this.#retry("lost");
        break;
      case "new":
      case "connecting":
      case "closed":
        break;
    }
  }

  #retry(fault: PublishFault): void {
    const delayMs = RETRY_DELAYS_MS[this.#retries];
    this.#disconnect();
    if (delayMs === undefined) return this.#fail(fault);
    this.#retries += 1;
    this.#listener.onState("reconnecting");
    this.#cancelTimer = this.#clock.after(delayMs, () => void this.#connect());
  }

  #fail(fault: PublishFault): void {
    this.stop();
    this.#listener.onFault(fault);
  }

  #disconnect(): void {
    this.#cancelTimer();
    this.#connection?.close();
    this.#connection = undefined;
    const url = this.#sessionUrl;
    this.#sessionUrl = undefined;
    if (url === undefined) return;
    // Sent even while the page closes. Without it the ingest ends the session when packets stop.
    fetch(url, { method: "DELETE", keepalive: true }).catch(() => undefined);
  }
}

/** HLS needs H.264: the ingest would have to re-encode other codecs. */
function preferH264(transceiver: RTCRtpTransceiver): void {
  const codecs = RTCRtpSender.getCapabilities("video")?.codecs ?? [];
  const isH264 = ({ mimeType }: { readonly mimeType: string }) => mimeType === "video/H264";
  const sorted = [...codecs.filter(isH264), ...codecs.filter((codec) => !isH264(codec))];
  // Safari lists only codecs that it can send; Firefox lacks this method before version 128.
  if (sorted.length > 0) transceiver.setCodecPreferences?.(sorted);
}
