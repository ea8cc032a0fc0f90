/** The service's list, as far as the sandbox has one: any voice's name is spoken with. */
export function edgeVoices(): readonly object[] {
  return [
    voice("en-US-AriaNeural", "en-US", "Female"),
    voice("en-US-EmmaMultilingualNeural", "en-US", "Female"),
    voice("es-ES-AlvaroNeural", "es-ES", "Male"),
  ];
}

function voice(ShortName: string, Locale: string, Gender: string): object {
  return {
    Name: `Microsoft Server Speech Text to Speech Voice (${Locale}, ${ShortName.slice(6)})`,
    ShortName,
    Gender,
    Locale,
    SuggestedCodec: "audio-24khz-48kbitrate-mono-mp3",
    FriendlyName: `${ShortName} of the sandbox`,
    Status: "GA",
    VoiceTag: { ContentCategories: ["General"], VoicePersonalities: ["Friendly"] },
  };
}
