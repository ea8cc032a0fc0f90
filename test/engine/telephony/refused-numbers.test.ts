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
    "+3531570123456",
    "+3531550987654",
    "sip:003531590123456@trunk.example.com",
    "+611902123456",
    "+979123456789",
    "+447012345678",
    "+12129765501",
    "sip:0012129765501@trunk.example.com",
    "sip:+19005550100@trunk.example.com",
    "sip:01119005550100@trunk.example.com",
  ],
  satellite: [
    "+870773123456",
    "+881612345678",
    "+8821650123456",
    "+883510012345678",
    "sip:00870773123456@trunk.example.com",
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
    // Ordinary numbers whose first digits are near those of a premium range of their country.
    "+35315701234",
    "+35315551234",
    "+35315961234",
    "+3531850123456",
    "+3292345678",
    "+3293901234",
    "+6493001234",
    "+6499001234",
    "+46901234567",
    "+46940123456",
    "+46941234567",
    "+4990612345",
    "+4990712345",
    "+4913112345",
    "+41911234567",
    "+4319001234",
    "+43316901234",
    "+48717012345",
    "+48607012345",
    "+4598123456",
    "+4591234567",
    "+4782123456",
    "+4722900123",
    "+390119001234",
    "+390892123456",
    "+393891234567",
    "+34915901234",
    "+34983123456",
    "+33189123456",
    "+33490123456",
    "+351217601234",
    "+351967601234",
    "+31206543210",
    "+441900823456",
    "+442890123456",
    "+448701234567",
    "+61391901234",
    "+611300123456",
    "+19195550100",
    "+12129005501",
    "+19762345501",
    "+19735559765",
    "+447700900123",
    "+447624123456",
    "+8801712345678",
    "+886212345678",
    "sip:870@a.example",
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
for (const target of TABLE.satellite) {
  test(`${target} is a number of a satellite or an international network`, () => {
    assert.equal(numberRefusal(target), "satellite");
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
