import type { Clock } from '../../../kernel/time.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import {
  createExternalTokens,
  type ExternalTokens,
  type TokenPerson,
} from '../tokens/external-tokens.ts'
import { takeByIssuer } from '../users/store.ts'
import type { NamedGroupRole } from './apply-groups.ts'
import { createAttempts } from './attempt.ts'
import { createIssuerClient } from './client.ts'
import { createIssuer, type Issuer } from './issuer.ts'
import type { SubjectType } from './person.ts'
import { createIssuerSignIn, type IssuerSignIn } from './sign-in.ts'
import { isBeforeRemoval, linkSubject } from './store.ts'

/** Settings of an external OpenID Connect issuer. */
export type IssuerSettings = {
  /** URL of the issuer. */
  oidc_issuer?: string | undefined
  /** Required `aud` of access tokens; when unset, no external access token is accepted. */
  oidc_audience?: string | undefined
  /** Whether a person has one subject in all clients of the issuer. Default: `public`. */
  oidc_subjects?: SubjectType
  /** When unset, browsers cannot sign in at the issuer. */
  oidc_client_id?: string | undefined
  oidc_client_secret?: string | undefined
  oidc_scopes?: string
  oidc_groups_claim?: string
  oidc_group_roles?: readonly NamedGroupRole[]
  /** Shortest time between two fetches of the keys for an unknown `kid`. */
  unknown_kid_refresh_ms?: number
}

type Options = IssuerSettings & {
  db: Kysely<AccessTables>
  clock: Clock
  logger: Logger
  secret_key: string
  public_url?: string | undefined
  outbound?: Outbound | undefined
}

/** The external issuer is configured, but a setting of its sign-in is missing. */
export class IssuerMisconfigured extends Error {
  override readonly name = 'IssuerMisconfigured'
}

/** Creates the parts of the external issuer that are configured. Throws `IssuerMisconfigured`. */
export function openIssuer(options: Options): {
  external: ExternalTokens | undefined
  issuer_sign_in: IssuerSignIn | undefined
} {
  const { oidc_issuer, oidc_audience, oidc_client_id, outbound } = options
  if (oidc_issuer === undefined || outbound === undefined) {
    if (oidc_client_id === undefined) return { external: undefined, issuer_sign_in: undefined }
    throw new IssuerMisconfigured('LOOPTRACE_OIDC_CLIENT_ID requires LOOPTRACE_OIDC_ISSUER')
  }
  const issuer = createIssuer({
    ...options,
    issuer: oidc_issuer,
    subjects: options.oidc_subjects,
    outbound,
  })
  return {
    external: oidc_audience === undefined ? undefined : createExternalTokens(issuer, oidc_audience),
    issuer_sign_in: oidc_client_id === undefined ? undefined : signIn(issuer, options),
  }
}

function signIn(issuer: Issuer, options: Options): IssuerSignIn {
  const { oidc_client_id = '', public_url, oidc_group_roles = [] } = options
  if (public_url === undefined) {
    throw new IssuerMisconfigured('LOOPTRACE_OIDC_CLIENT_ID requires LOOPTRACE_PUBLIC_URL')
  }
  const client = createIssuerClient({
    issuer,
    public_url,
    clock: options.clock,
    client_id: oidc_client_id,
    client_secret: options.oidc_client_secret,
    scopes: options.oidc_scopes ?? 'openid email profile',
    groups_claim: options.oidc_groups_claim ?? 'groups',
  })
  const attempts = createAttempts({ ...options, public_url })
  return createIssuerSignIn({ ...options, client, attempts, public_url, mapping: oidc_group_roles })
}

/**
 * Links a user to the subject of a first access token. Ends the password and sessions of an account
 * whose address was not verified. Returns false if the user is linked to another subject, or the
 * links of the account were removed after the token was issued.
 */
export function settleByIssuer(
  db: Kysely<AccessTables>,
  person: TokenPerson,
  about: { user_id: string; now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { issued_at_ms } = person
    if (await isBeforeRemoval(trx, { ...about, issued_at_ms })) return false
    if (!(await linkSubject(trx, person, about))) return false
    await takeByIssuer(trx, about.user_id, about.now)
    return true
  })
}
