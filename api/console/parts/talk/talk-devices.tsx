import { useEffect, useState } from "react";
import { type SoundDevices, soundDevices } from "../../../client/client.js";
import type { TalkSession } from "../../model/talk-session.js";
import { Field, SelectField } from "../forms/field.js";

const NONE: SoundDevices = { microphones: [], loudspeakers: [] };
/** What Chromium calls the system's own choices, beside the devices themselves. */
const OWN_CHOICES = new Set(["default", "communications"]);

/** Which microphone and loudspeaker a call uses, and how loud it is; to be shown once the browser has given a microphone. */
export function TalkDevices({ session }: { session: TalkSession }) {
  const { microphones, loudspeakers } = useSoundDevices();
  const [microphoneId, setMicrophoneId] = useState(session.microphoneId);
  const [loudspeakerId, setLoudspeakerId] = useState(session.loudspeakerId);
  const [volume, setVolume] = useState(session.volume);
  return (
    <details>
      <summary>Sound</summary>
      <div className="stack">
        <DeviceField
          label="Microphone"
          devices={microphones}
          value={microphoneId}
          onChange={(id) => {
            setMicrophoneId(id);
            void session.useMicrophone(id).then(() => setMicrophoneId(session.microphoneId));
          }}
        />
        <DeviceField
          label="Loudspeaker"
          devices={loudspeakers}
          value={loudspeakerId}
          onChange={(id) => {
            setLoudspeakerId(id);
            void session.useLoudspeaker(id).then(() => setLoudspeakerId(session.loudspeakerId));
          }}
        />
        <Field label="Volume">
          {(wired) => (
            <input
              {...wired}
              type="range"
              min={0}
              max={100}
              step={5}
              value={100 * volume}
              onChange={({ target }) => {
                session.setVolume(target.valueAsNumber / 100);
                setVolume(session.volume);
              }}
            />
          )}
        </Field>
      </div>
    </details>
  );
}

interface DeviceFieldProps {
  readonly label: string;
  readonly devices: readonly MediaDeviceInfo[];
  /** Empty: the system's own choice. */
  readonly value: string;
  readonly onChange: (deviceId: string) => void;
}

/** Where there is no choice there is nothing to ask. */
function DeviceField({ devices, ...field }: DeviceFieldProps) {
  const options = devices
    .filter(({ deviceId, label }) => label !== "" && !OWN_CHOICES.has(deviceId))
    .map(({ deviceId, label }) => ({ value: deviceId, label }));
  if (options.length < 2) return null;
  const own = { value: "", label: "As the system has it" };
  return <SelectField {...field} options={[own, ...options]} />;
}

/** As they come and go. */
function useSoundDevices(): SoundDevices {
  const [devices, setDevices] = useState(NONE);
  useEffect(() => {
    const media: Partial<MediaDevices> | undefined = navigator.mediaDevices;
    let isGone = false;
    const look = () =>
      void soundDevices().then(
        (found) => {
          if (!isGone) setDevices(found);
        },
        () => undefined,
      );
    look();
    media?.addEventListener?.("devicechange", look);
    return () => {
      isGone = true;
      media?.removeEventListener?.("devicechange", look);
    };
  }, []);
  return devices;
}
