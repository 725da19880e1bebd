import type {
  Instant,
  InstantByDefault,
  InstantOrNull,
  Json,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface SignInTables {
  browser_sessions: {
    id: string
    user_id: string
    session_number: number
    by_issuer: boolean
    token_hash: Buffer
    previous_hash: OrNull<Buffer>
    renewed_at: Instant
    created_at: Instant
    used_at: Instant
    expires_at: Instant
    ended_at: InstantOrNull
  }
  password_resets: {
    token_hash: Buffer
    user_id: string
    created_at: Instant
    expires_at: Instant
    used_at: InstantOrNull
    is_mailed: boolean
    created_by: OrNull<string>
  }
  refresh_tokens: {
    id: string
    family_id: string
    user_id: string
    token_hash: Buffer
    created_at: InstantByDefault
    expires_at: Instant
    used_at: InstantOrNull
    revoked_at: InstantOrNull
  }
  sign_in_counts: {
    key_hash: Buffer
    account_hash: OrNull<Buffer>
    failed_at: Instant
    clear_at: Instant
  }
  sign_in_networks: {
    account_hash: Buffer
    network_hash: Buffer
    used_at: Instant
  }
  signing_keys: {
    id: string
    public_jwk: Json<JsonRecord>
    private_key_encrypted: Buffer
    created_at: InstantByDefault
    activates_at: Instant
    retires_at: InstantOrNull
  }
  used_sign_ins: {
    state_hash: Buffer
    expires_at: Instant
  }
  user_identities: {
    issuer: string
    client_id: string
    subject: string
    user_id: string
    created_at: Instant
  }
}
