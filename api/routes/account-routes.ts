import type { Account, Accounts } from "../../engine/tenancy/people/accounts.js";
import type { OrganizationRecord, UserRecord } from "../../storage/records.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";

export function accountRoutes(
  accounts: Accounts,
): Handlers<"signUp" | "signIn" | "getMe" | "changePassword"> {
  return {
    signUp: async ({ body }) => {
      const { user, token } = await accounts.signUp(body);
      return { user: userView(user), token };
    },
    signIn: async ({ body }) => {
      const { token, ...account } = await accounts.signIn(body);
      const isPending = account.organization.status === "pending";
      return { ...accountView(account), token, ...(isPending ? { status: "pending" } : {}) };
    },
    getMe: ({ user, tenant: { organization } }) => ({
      ...accountView({ user, organization }),
      status: organization.status,
      ...(user.isOperator ? { isOperator: true } : {}),
    }),
    changePassword: async ({ user, body }) => {
      const token = await accounts.changePassword(user, body);
      return { success: true, token };
    },
  };
}

function accountView({ user, organization }: Account) {
  return { user: userView(user), organization: organizationView(organization) };
}

function userView({ id, email, name, role }: UserRecord) {
  return { id, email, name, role };
}

function organizationView({ id, name, status }: OrganizationRecord) {
  return { id, name, status };
}
