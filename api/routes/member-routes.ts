import { actorOf } from "../../engine/tenancy/audit-entry.js";
import { isOwner, type Members } from "../../engine/tenancy/people/members.js";
import type { OrganizationRecord, UserRecord } from "../../storage/records.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function memberRoutes(
  members: Members,
): Handlers<"listMembers" | "addMember" | "changeMemberRole" | "removeMember"> {
  return {
    listMembers: async ({ tenant: { organization } }) =>
      (await members.list(organization.id)).map((user) => memberView(user, organization)),
    addMember: async ({ tenant, body }) => {
      const { organization } = tenant;
      const user = await members.add(organization.id, body, actorOf(tenant));
      return memberView(user, organization);
    },
    changeMemberRole: async ({ tenant, id, body }) => {
      const { organization } = tenant;
      const user = await members.changeRole(organization, id, body.role, actorOf(tenant));
      return memberView(user, organization);
    },
    removeMember: async ({ tenant, id }) => {
      await members.remove(tenant.organization, id, actorOf(tenant));
      return { success: true };
    },
  };
}

function memberView(user: UserRecord, organization: OrganizationRecord) {
  const { id, email, name, role, createdAtMs } = user;
  const createdAt = timestamp(createdAtMs);
  return { id, email, name, role, isOwner: isOwner(user, organization), createdAt };
}
