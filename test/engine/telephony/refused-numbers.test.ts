import assert from "node:assert/strict";
import { test } from "node:test";
import { numberRefusal } from "../../../engine/telephony/refused-numbers.js";

const TABLE = {
  emergency: [
    "+911",
    "+1911",
    "+112",
    "+49112",
    "+49110",
    "+44999",
    "+353112",
    "+61000",
    "+64111",
    "+81119",
    "+3315",
    "+3318",
    "sip:911@trunk.example.com",
    "sips:112@trunk.example.com;transport=tls",
    "sip:+1911@trunk.example.com",
    "sip:1-1-2@trunk.example.com",
  ],
  premium: [
    "+19005550100",
    "+449061234567",
    "+448711234567",
    "+499001234567",
    "+4913712345",
    "+33899123456",
    "+34806123456",
    "+39899123456",
    "+319001234",
    "+3290123456",
    "+41900123456",
    "+43930123456",
    "+48701234567",
    "+35315701234",
    "+611902123456",
    "+979123456789",
    "sip:+19005550100@trunk.example.com",
    "sip:01119005550100@trunk.example.com",
  ],
  allowed: [
    "+15550101000",
    "+442071838750",
    "+448001234567",
    "+4930901820",
    "+33123456789",
    "+34912345678",
    "+39021234567",
    "+31201234567",
    "+41441234567",
    "+48221234567",
    "+35312345678",
    "+61291234567",
    "+819012345678",
    // National numbers that only begin or end like one.
    "+15559110000",
    "+14155550911",
    "sip:desk@a.example",
    "sip:911desk@a.example",
    "sip:110@a.example",
    "sip:200@a.example",
    "sip:1900@a.example",
  ],
} as const;

for (const target of TABLE.emergency) {
  test(`${target} is an emergency number`, () => {
    assert.equal(numberRefusal(target), "emergency");
  });
}
for (const target of TABLE.premium) {
  test(`${target} is a premium number`, () => {
    assert.equal(numberRefusal(target), "premium");
  });
}
for (const target of TABLE.allowed) {
  test(`${target} may be called`, () => {
    assert.equal(numberRefusal(target), undefined);
  });
}
