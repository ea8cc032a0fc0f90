import * as v from "valibot";
import { choiceField, Id, nameField, requestObject, textField, worded } from "./fields.js";

const EMAIL_CHARACTERS_MAX = 254;
const PASSWORD_CHARACTERS_MIN = 8;
/** A pass phrase fits; hashing more would only be work for an attacker to order. */
const PASSWORD_CHARACTERS_MAX = 256;

export const Email = worded(
  v.pipe(
    v.string(),
    v.trim(),
    v.maxLength(EMAIL_CHARACTERS_MAX),
    v.email(),
    v.examples(["ada@example.com"]),
    v.description("an e-mail address"),
  ),
);

/** What nobody types on purpose: blanks alone, or what a keyboard has no key for. */
function isTypeable(password: string): boolean {
  return password.trim() !== "" && !/\p{Cc}/u.test(password);
}

export const Password = worded(
  v.pipe(
    v.string(),
    v.minLength(PASSWORD_CHARACTERS_MIN),
    v.maxLength(PASSWORD_CHARACTERS_MAX),
    v.check(isTypeable),
    v.description(
      `a password of ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters, not only blanks, without control characters`,
    ),
  ),
);

export const SignUpBody = requestObject({
  name: nameField("the user's name"),
  email: Email,
  password: Password,
  orgName: v.optional(nameField("the organization's name")),
});

/** As loose as possible: a wrong password is reported by 401, not by its length. */
export const SignInBody = requestObject({
  email: textField("the e-mail address", EMAIL_CHARACTERS_MAX),
  password: textField("the password", PASSWORD_CHARACTERS_MAX),
});

/** As loose as in `SignInBody`, but for the new one. */
export const PasswordBody = requestObject({
  password: textField("the current password", PASSWORD_CHARACTERS_MAX),
  newPassword: Password,
});

export const Role = choiceField("what the user may do", ["admin", "member"]);

export const User = v.object({
  id: Id,
  email: v.string(),
  name: v.string(),
  role: v.picklist(["admin", "member"]),
});

export const OrganizationStatus = v.picklist(["pending", "active"]);

export const OwnOrganization = v.object({
  id: Id,
  name: v.string(),
  status: OrganizationStatus,
});

export const SignedUp = v.object({ user: User, token: v.string() });

export const PasswordChanged = v.object({ success: v.literal(true), token: v.string() });

export const SignedIn = v.object({
  user: User,
  organization: OwnOrganization,
  token: v.string(),
  status: v.optional(
    v.pipe(v.literal("pending"), v.description("only while the organization is pending")),
  ),
});

export const Me = v.object({
  user: User,
  organization: OwnOrganization,
  status: OrganizationStatus,
  isOperator: v.optional(
    v.pipe(v.literal(true), v.description("only for an operator of the platform")),
  ),
});
