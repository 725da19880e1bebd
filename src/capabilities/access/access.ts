import { newId } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import type { Mailer } from '../../platform/mail/index.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import type { AccessTables, Kysely } from '../../platform/relational/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { runInInstallation } from '../../platform/tenancy/index.ts'
import { createPasswordResets, type PasswordResets } from './auth/password-reset/password-resets.ts'
import type { InvitationLinks } from './invitations/link.ts'
import { createKeyCache, type KeyCache } from './keys/key-cache.ts'
import { createKeyUsage } from './keys/key-usage.ts'
import { openKeys } from './keys/open-keys.ts'
import { hashSecret, operatorKeyPrefix, randomBase62 } from './keys/project-key.ts'
import { type IssuerSettings, openIssuer, settleByIssuer } from './oidc/open-issuer.ts'
import type { IssuerSignIn } from './oidc/sign-in.ts'
import { type OperatorKey, readOperatorKey, writeOperatorKeyUses } from './operator-keys/store.ts'
import { createPasswordHasher, type PasswordHasher } from './passwords/password-hasher.ts'
import { createPasswordStrength, type PasswordStrength } from './passwords/password-strength.ts'
import { createSignInGuard, type SignInGuard } from './passwords/sign-in-guard.ts'
import { createRoleReader, type RoleReader } from './roles/role-reader.ts'
import { createFirstLinks, type FirstLinks } from './sessions/first-link.ts'
import {
  type BrowserSessions,
  type BrowserSessionsOptions,
  createBrowserSessions,
} from './sessions/sessions.ts'
import { type AccessTokens, createAccessTokens } from './tokens/access-tokens.ts'
import type { ExternalTokens, TokenPerson } from './tokens/external-tokens.ts'
import { createSigningKeys, type SigningKeys } from './tokens/signing-keys.ts'
import { exchangeRefreshToken, insertRefreshToken, revokeFamily } from './tokens/store.ts'

/** Dependencies of sign-in, authorisation and the routes under `/api/v2/access`. */
export type Access = {
  db: Kysely<AccessTables>
  clock: Clock
  keys: KeyCache
  /** Keys of Kubernetes operators. */
  operators: KeyCache<OperatorKey>
  roles: RoleReader
  tokens: AccessTokens
  signing_keys: SigningKeys
  refresh_tokens: RefreshTokens
  external: ExternalTokens | undefined
  /** Sign-in of browsers at the external issuer, if it is configured. */
  issuer_sign_in: IssuerSignIn | undefined
  /** Origin of the pages of Looptrace, if it is configured. */
  public_url: string | undefined
  sessions: BrowserSessions
  first_links: FirstLinks
  passwords: PasswordHasher
  guard: SignInGuard
  strength: PasswordStrength
  resets: PasswordResets
  logger: Logger
  invitations: InvitationLinks
  /** Links a user to the subject of a first token; false when the user is linked to another. */
  settleByIssuer: (person: TokenPerson, user_id: string) => Promise<boolean>
  /** Writes the last key uses. Call it before the store is closed. */
  close(): Promise<void>
}

export type AccessOptions = IssuerSettings &
  Pick<BrowserSessionsOptions, 'session_idle_ms' | 'session_ttl_ms'> & {
    db: Kysely<AccessTables>
    clock: Clock
    logger: Logger
    /**
     * Encrypts the private signing keys in the store; at least 32 characters, the same in every
     * pod.
     */
    secret_key: string
    /** Maximum open invitations of an organization; 200 by default. */
    invitations_pending_max?: number
    /** Sends invitations and reset links. Without a configured mailer the inviter gets the link. */
    mailer?: Mailer | undefined
    /** Origin of links in mails. */
    public_url?: string | undefined
    /** HTTP client of the external issuer; required with `oidc_issuer`. */
    outbound?: Outbound | undefined
    /** Cost of password hashes. Tests lower it. */
    passwords?: PasswordHasher
    /** Checks new passwords. Tests share one, because its thread takes a second to start. */
    strength?: PasswordStrength
  }

/** Creates the parts of sign-in. Reads nothing from the store. */
export function openAccess(options: AccessOptions): Access {
  const { db, clock } = options
  const { keys, close } = openKeys({ db, clock })
  const operators = openOperatorKeys({ db, clock })
  const strength = options.strength ?? createPasswordStrength()
  const resets = createPasswordResets(options)
  const sessions = createBrowserSessions(options)
  const signing_keys = createSigningKeys({
    ...options,
    rules: {
      rotate_after_ms: rotateAfterMs,
      publish_before_ms: publishBeforeMs,
      token_ttl_ms: tokenTtlMs,
    },
  })
  return {
    db,
    clock,
    keys,
    operators: operators.keys,
    roles: createRoleReader({ db, clock }),
    tokens: createAccessTokens({
      signing_keys,
      clock,
      issuer: 'looptrace',
      ttl_ms: tokenTtlMs,
    }),
    signing_keys,
    refresh_tokens: createRefreshTokens({ db, clock }),
    ...openIssuer(options),
    sessions,
    first_links: createFirstLinks(clock),
    public_url: options.public_url,
    passwords: options.passwords ?? createPasswordHasher(),
    guard: createSignInGuard({ db, clock }),
    strength,
    resets,
    logger: options.logger,
    invitations: {
      ttl_ms: invitationTtlMs,
      pending_max: options.invitations_pending_max ?? maxInvitationsPending,
      mailer: options.mailer,
      public_url: options.public_url,
    },
    settleByIssuer: (person, user_id) =>
      settleByIssuer(db, person, { user_id, now: new Date(clock.now_ms()) }),
    close: async () => {
      await resets.close()
      await strength.close()
      await close()
      await operators.close()
      await sessions.close()
    },
  }
}

/** Creates the cache of operator keys, which refuses all keys while the store is unavailable. */
function openOperatorKeys(options: { db: Kysely<AccessTables>; clock: Clock }) {
  const { db, clock } = options
  const usage = createKeyUsage({
    write: (uses) => runInInstallation('keys of operators', () => writeOperatorKeyUses(db, uses)),
    clock,
  })
  const keys = createKeyCache({
    load: (prefix) => runInInstallation('look-up of a key', () => readOperatorKey(db, prefix)),
    prefixOf: operatorKeyPrefix,
    clock,
    onUsed: usage.touch,
    stale_ms: 0,
  })
  return { keys, close: usage.close }
}

const invitationTtlMs = 7 * 24 * 60 * 60 * 1000
const maxInvitationsPending = 200
const tokenTtlMs = 60 * 60 * 1000
const rotateAfterMs = 30 * 24 * 60 * 60 * 1000
/** Twice the time for which clients may cache the key set (5 minutes). */
const publishBeforeMs = 10 * 60 * 1000

/** Opaque tokens, each valid for one new access token. */
type RefreshTokens = {
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
function createRefreshTokens(options: {
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
