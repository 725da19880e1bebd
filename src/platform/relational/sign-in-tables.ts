import type { Instant, InstantByDefault, InstantOrNull, Json, OrNull } from './column-types.ts'

/** The tables of sign-in: keys of tokens, sessions, identities at issuers, failed attempts. */
export interface SignInTables {
  signing_keys: SigningKeysTable
  refresh_tokens: RefreshTokensTable
  user_identities: UserIdentitiesTable
  browser_sessions: BrowserSessionsTable
  used_sign_ins: UsedSignInsTable
  sign_in_counts: SignInCountsTable
  sign_in_networks: SignInNetworksTable
  password_resets: PasswordResetsTable
}

/** A key pair that signs access tokens. `id` is its `kid`. */
interface SigningKeysTable {
  id: string
  public_jwk: Json<Record<string, unknown>>
  private_key_encrypted: Buffer
  created_at: InstantByDefault
  activates_at: Instant
  retires_at: InstantOrNull
}

/** A refresh token. All tokens that were exchanged for one another share a `family_id`. */
interface RefreshTokensTable {
  id: string
  family_id: string
  user_id: string
  token_hash: Buffer
  created_at: InstantByDefault
  expires_at: Instant
  used_at: InstantOrNull
  revoked_at: InstantOrNull
}

/** A subject of an external issuer, with the client or audience of its first token. */
interface UserIdentitiesTable {
  issuer: string
  client_id: string
  subject: string
  user_id: string
  created_at: Instant
}

/** A session of a browser. It ends when the user's session number changes. */
interface BrowserSessionsTable {
  id: string
  user_id: string
  session_number: number
  /** Signed in at the external issuer, so that the password does not matter. */
  by_issuer: boolean
  /** SHA-256 of the cookie, 32 bytes. The cookie itself is not stored. */
  token_hash: Buffer
  /** SHA-256 of the cookie before the last renewal. */
  previous_hash: OrNull<Buffer>
  renewed_at: Instant
  created_at: Instant
  /** Time of the last use, updated within two minutes. */
  used_at: Instant
  expires_at: Instant
  ended_at: InstantOrNull
}

/** A completed sign-in at the external issuer, which cannot be used again. */
interface UsedSignInsTable {
  state_hash: Buffer
  expires_at: Instant
}

/** A count of failed sign-ins. The key is the SHA-256 of what it counts. */
interface SignInCountsTable {
  key_hash: Buffer
  account_hash: OrNull<Buffer>
  failed_at: Instant
  clear_at: Instant
}

/** A network from which an account signed in. */
interface SignInNetworksTable {
  account_hash: Buffer
  network_hash: Buffer
  used_at: Instant
}

/** A link that sets a new password. `is_mailed` links confirm the e-mail. */
interface PasswordResetsTable {
  token_hash: Buffer
  user_id: string
  created_at: Instant
  expires_at: Instant
  used_at: InstantOrNull
  is_mailed: boolean
  /** The administrator who made the link. */
  created_by: OrNull<string>
}
