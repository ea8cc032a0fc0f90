export const ROLES = ["member", "admin"] as const;

export type Role = (typeof ROLES)[number];

export const ROLE_WORDS: Readonly<Record<Role, string>> = { member: "Member", admin: "Admin" };
