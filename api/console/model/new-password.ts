/** Without characters that are easily confused: it is written down or read out once. */
const SIGNS = "abcdefghjkmnpqrstuvwxyz23456789";
const GROUPS = 4;
const GROUP_SIGNS = 4;

/** Four groups of four signs: 79 bits, hard to guess and easy to hand over. */
export function newPassword(): string {
  return Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_SIGNS }, newSign).join(""),
  ).join("-");
}

/** Each sign as likely as every other: what would favour the first ones is drawn again. */
function newSign(): string {
  for (;;) {
    const [drawn = 0] = crypto.getRandomValues(new Uint8Array(1));
    const sign = SIGNS[drawn % SIGNS.length];
    if (drawn < 256 - (256 % SIGNS.length) && sign !== undefined) return sign;
  }
}
