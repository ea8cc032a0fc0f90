import { useQuery } from "@tanstack/react-query";
import { Pause, Play } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import WaveSurfer from "wavesurfer.js";
import RegionsPlugin from "wavesurfer.js/dist/plugins/regions.esm.js";
import { faultOf, fetchAsUser } from "../../model/api.js";
import { SERVER_URL } from "../../model/server-address.js";
import type { SaidTurn } from "../../model/turns.js";
import { momentWords } from "../../words/durations.js";
import { Fault } from "../states.js";
import { themeColor } from "../theme-color.js";

/** About two hours of two voices; more than that a page does not hold. */
const RECORDING_BYTES_MAX = 256 * 1024 * 1024;
const LANE_PX = 56;
/** A recording is whole some moments after its call has ended: so often it is looked for. */
const LOOKS_MAX = 4;
const LOOK_EVERY_MS = 2_000;

export type Seek = (atSec: number) => void;

interface RecordingProps {
  readonly callId: string;
  /** Whether the call's record says that there is one. */
  readonly isKept: boolean;
  readonly turns: readonly SaidTurn[];
  readonly seek: RefObject<Seek | undefined>;
  readonly beginSec: number;
  readonly onTime: (atSec: number) => void;
}

/** The caller above, the agent below. A call that was not recorded has none of this. */
export function Recording(props: RecordingProps) {
  const { callId, isKept } = props;
  const sound = useQuery({
    queryKey: ["recording", callId],
    queryFn: () => recordingOf(callId),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) =>
      state.data === "none" && state.dataUpdateCount < LOOKS_MAX ? LOOK_EVERY_MS : false,
  });
  if (sound.error !== null) return <Fault error={sound.error} retry={sound.refetch} />;
  if (sound.data === undefined && isKept) {
    return (
      <Frame isPlaying={false} onPlay={undefined} lengthSec={0}>
        <span className="bone lanes" aria-hidden />
      </Frame>
    );
  }
  if (sound.data === undefined || sound.data === "none") {
    return (
      <p className="soft">
        This call was not recorded. Recording is switched on in the agent’s settings.
      </p>
    );
  }
  if (sound.data === "large") {
    return <p className="note warn">The recording is too long to be shown; the API gives it.</p>;
  }
  return <Lanes {...props} sound={sound.data} />;
}

async function recordingOf(callId: string): Promise<Blob | "none" | "large"> {
  const url = `${SERVER_URL}/api/dashboard/calls/${callId}/recording`;
  const response = await fetchAsUser(new Request(url));
  if (response.status === 404) return "none";
  if (!response.ok) throw faultOf(response.status, await response.json().catch(() => undefined));
  if (Number(response.headers.get("content-length") ?? 0) > RECORDING_BYTES_MAX) {
    await response.body?.cancel();
    return "large";
  }
  return response.blob();
}

function Lanes({ sound, turns, seek, beginSec, onTime }: RecordingProps & { sound: Blob }) {
  const place = useRef<HTMLDivElement>(null);
  const player = useRef<WaveSurfer>(undefined);
  const [isPlaying, setPlaying] = useState(false);
  const [length, setLength] = useState(0);
  const atStart = useRef({ turns, beginSec, onTime });
  useEffect(() => {
    if (place.current === null) return undefined;
    const wave = newWave(place.current, atStart.current.turns);
    player.current = wave;
    seek.current = (atSec) => wave.setTime(atSec);
    wave.on("play", () => setPlaying(true));
    wave.on("pause", () => setPlaying(false));
    wave.on("timeupdate", (atSec) => atStart.current.onTime(atSec));
    wave.on("ready", (durationSec) => {
      setLength(durationSec);
      if (atStart.current.beginSec > 0) wave.setTime(atStart.current.beginSec);
    });
    void wave.loadBlob(sound);
    return () => {
      seek.current = undefined;
      wave.destroy();
    };
  }, [sound, seek]);
  return (
    <Frame isPlaying={isPlaying} onPlay={() => void player.current?.playPause()} lengthSec={length}>
      <div ref={place} className="lanes" />
    </Frame>
  );
}

interface FrameProps {
  readonly isPlaying: boolean;
  /** Undefined while the sound is being loaded. */
  readonly onPlay: (() => void) | undefined;
  readonly lengthSec: number;
  readonly children: ReactNode;
}

/** As high while the sound is being loaded as afterwards: what stands below is not pushed away. */
function Frame({ isPlaying, onPlay, lengthSec, children }: FrameProps) {
  return (
    <section className="card stack tight recording">
      <div className="row">
        <h2>Recording</h2>
        <button type="button" className="button" disabled={onPlay === undefined} onClick={onPlay}>
          {isPlaying ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
          {isPlaying ? "Pause" : "Play"}
        </button>
        <span className="soft">
          Caller above, agent below, {momentWords(lengthSec)}. A click plays from there.
        </span>
      </div>
      {children}
    </section>
  );
}

function newWave(container: HTMLElement, turns: readonly SaidTurn[]): WaveSurfer {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content;
  const regions = RegionsPlugin.create();
  const wave = WaveSurfer.create({
    container,
    height: LANE_PX,
    cursorColor: themeColor("--ink"),
    splitChannels: [
      { waveColor: themeColor("--line-strong"), progressColor: themeColor("--ink-soft") },
      { waveColor: themeColor("--part-token"), progressColor: themeColor("--accent") },
    ],
    plugins: [regions],
    ...(nonce === undefined ? {} : { cspNonce: nonce }),
  });
  wave.on("decode", () => {
    for (const { atSec } of turns) regions.addRegion({ start: atSec, color: themeColor("--line") });
  });
  wave.on("interaction", () => void wave.play());
  return wave;
}
