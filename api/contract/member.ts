import * as v from "valibot";
import { Email, Password, Role, User } from "./account.js";
import { nameField, requestObject, Timestamp } from "./fields.js";

export const MemberBody = requestObject({
  name: nameField("the member's name"),
  email: Email,
  password: Password,
  role: Role,
});

export const MemberRoleBody = requestObject({ role: Role });

export const Member = v.object({
  ...User.entries,
  isOwner: v.pipe(
    v.boolean(),
    v.description("true of the one by whose e-mail the platform knows the organization"),
  ),
  createdAt: Timestamp,
});
