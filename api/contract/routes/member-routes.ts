import * as v from "valibot";
import { Success } from "../fields.js";
import { Member, MemberBody, MemberRoleBody } from "../member.js";
import type { Route } from "./route.js";
import { created, ok, refused } from "./route-answer.js";

const group = "Members";
const admins = { auth: "admin", limit: "general", group } as const;

/** Who belongs to the organization. */
export const MEMBER_ROUTES = {
  listMembers: {
    method: "get",
    path: "/api/dashboard/members",
    group,
    summary: "List the members",
    auth: "dashboard",
    limit: "general",
    success: ok("All members, in the order in which they came", v.array(Member)),
  },
  addMember: {
    method: "post",
    path: "/api/dashboard/members",
    summary: "Add a member with a first password",
    ...admins,
    body: MemberBody,
    success: created("The member, who can sign in at once", Member),
    others: [refused(409, "The e-mail address has an account")],
  },
  changeMemberRole: {
    method: "patch",
    path: "/api/dashboard/members/:id",
    summary: "Change the role of a member",
    ...admins,
    body: MemberRoleBody,
    success: ok("The member; the role holds from the next request on", Member),
    others: [refused(409, "The member is the owner, who stays an admin")],
  },
  removeMember: {
    method: "delete",
    path: "/api/dashboard/members/:id",
    summary: "Remove a member",
    ...admins,
    success: ok("Removed: the member's tokens open nothing any more", Success),
    others: [refused(409, "The member is the owner, who stays")],
  },
} as const satisfies Record<string, Route>;
