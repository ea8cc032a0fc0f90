import { answered, api, fetchAsAnybody } from "./api.js";

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface NewAccount extends Credentials {
  readonly name: string;
  readonly orgName: string;
}

/** Rejects with an ApiError, of status 401 where the e-mail or the password is wrong. */
export function signIn({ email, password }: Credentials) {
  return answered(
    api.POST("/api/auth/signin", { body: { email, password }, fetch: fetchAsAnybody }),
  );
}

export function signUp(account: NewAccount) {
  return answered(api.POST("/api/auth/signup", { body: account, fetch: fetchAsAnybody }));
}
