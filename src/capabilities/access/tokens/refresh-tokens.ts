import { newId } from '../../../kernel/ids.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { hashSecret, randomBase62 } from '../keys/project-key.ts'
import { exchangeRefreshToken, insertRefreshToken, revokeFamily } from './store.ts'

/** Opaque tokens, each valid for one new access token. */
export type RefreshTokens = {
  /** Issues the first token of a sign-in. */
  issue(user_id: string): Promise<string>
  /** Exchanges a token for its successor; undefined for an invalid token. */
  exchange(token: string): Promise<{ user_id: string; refresh_token: string } | undefined>
  /** Ends the sign-in of a token; ignores an unknown token. */
  revoke(token: string): Promise<void>
}

/**
 * Issues tokens of `ltr_` + 43 base62 characters (256 bits), of which only the SHA-256 is stored.
 */
export function createRefreshTokens(options: {
  db: Kysely<AccessTables>
  clock: Clock
  /** Lifetime of each token, and of a sign-in: successors keep the expiry of the first token. */
  ttl_ms?: number
}): RefreshTokens {
  const { db, clock, ttl_ms = 30 * 24 * 60 * 60 * 1000 } = options
  return {
    issue: async (user_id) => {
      const token = newToken()
      const now_ms = clock.now_ms()
      await insertRefreshToken(db, {
        id: newId(),
        family_id: newId(),
        user_id,
        token_hash: hashSecret(token),
        created_at: new Date(now_ms),
        expires_at: new Date(now_ms + ttl_ms),
      })
      return token
    },
    exchange: async (token) => {
      const refresh_token = newToken()
      const successor = {
        id: newId(),
        token_hash: hashSecret(refresh_token),
        now: new Date(clock.now_ms()),
      }
      const exchanged = await exchangeRefreshToken(db, hashSecret(token), successor)
      return exchanged && { user_id: exchanged.user_id, refresh_token }
    },
    revoke: (token) => revokeFamily(db, hashSecret(token), new Date(clock.now_ms())),
  }
}

function newToken(): string {
  return `ltr_${randomBase62(43)}`
}
