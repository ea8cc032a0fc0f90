import assert from "node:assert/strict";
import { test } from "node:test";
import { followLanguage } from "../../../engine/conversation/call-language.js";
import type { ConversationEffect } from "../../../engine/conversation/effects.js";
import type { EndOfTurn } from "../../../engine/conversation/reasons.js";
import { type ConversationTool, newConversation } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";
import { languageSettings } from "./call-script.js";

const END: Omit<EndOfTurn, "language"> = { reason: "endpointing", waitedMs: 300 };

test("a call that changes its language says its tools' sentences of that language, and none of before", () => {
  const tool = { kind: "http", name: "look" } as const;
  const said = (text: string): readonly ConversationTool[] => [
    { ...tool, onStart: text, onDelay: { text: `${text} Later.`, afterMs: 3_000 } },
  ];
  const english = { ...languageSettings("en-US"), tools: said("One moment.") };
  const german = { ...languageSettings("de-DE"), tools: said("Moment.") };
  const settings = { ...PLAIN_SETTINGS, ...english, languages: [english, german] };
  const delay = { turnId: 1, callId: "call", text: "One moment. Later.", dueMs: 5_000 };
  const state = { ...newConversation(settings, []), toolDelays: [delay] };
  const out: ConversationEffect[] = [];
  followLanguage(state, { ...END, language: "de-DE" }, "Guten Morgen, wie geht es", out);
  assert.deepEqual(state.settings.tools, said("Moment."));
  assert.deepEqual(state.toolDelays, []);
  assert.deepEqual(out, [
    { type: "switchLanguage", language: "de-DE" },
    { type: "preparePhrases", texts: ["Moment. Later."] },
  ]);
});
