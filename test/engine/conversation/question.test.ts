import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuestion } from "../../../engine/conversation/lexicon.js";

const QUESTIONS = [
  "Shall I book it?",
  'And is that the "late checkout"?',
  "¿Sigue usted ahí?",
  "Êtes-vous toujours là ?",
  "هل أنت هناك؟",
  "もしもし、聞こえますか。",
  "ほかにご用件はございますか。",
  "您还在吗。",
  "क्या आप लाइन पर हैं",
];
const REQUESTS = [
  "Please say yes or no.",
  "Just say yes.",
  "Please confirm that the address is right.",
  "Bitte bestätigen Sie die Adresse.",
  "Sagen Sie bitte ja oder nein.",
  "Confirmez, s'il vous plaît.",
  "Por favor, confirme la dirección.",
  "Diga sim ou não.",
  "Proszę potwierdzić adres.",
  "Lütfen onaylayın.",
  "请确认地址。",
  "कृपया पुष्टि करें।",
];
const STATEMENTS = [
  "Let me know if you need anything else.",
  "メールをご確認ください。",
  "We have three rooms with a view of the lake.",
  "I have confirmed your booking.",
  "You said yes.",
  "Das Zimmer ist frei.",
  "C'est noté.",
  "Su habitación está confirmada.",
  "はい、空いております。",
  "好的，已经订好了。",
  "कमरा खाली है।",
];

test("what ends with the mark or the word of its language is a question", () => {
  for (const text of QUESTIONS) assert.ok(isQuestion(text), text);
});

test("so is what asks for a word as a statement does", () => {
  for (const text of REQUESTS) assert.ok(isQuestion(text), text);
});

test("what only tells is none", () => {
  for (const text of STATEMENTS) assert.ok(!isQuestion(text), text);
});
