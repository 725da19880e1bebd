/** Whom an access token speaks for. What they may do is read from the store, not from the token. */
export type TokenSubject =
  | { kind: 'user'; user_id: string }
  /** `key_id` is the key the token was got with: revoking it ends the token too. */
  | { kind: 'service_account'; service_account_id: string; key_id: string }

/** Makes and checks access tokens. */
export type AccessTokens = {
  /** A signed JWT; `expires_in` is in seconds. */
  issue(subject: TokenSubject): Promise<{ access_token: string; expires_in: number }>
  /** Rejects with `credentials_invalid` for anything that is not a valid token of ours. */
  verify(token: string): Promise<TokenSubject>
}
