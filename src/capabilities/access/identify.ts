import { problem } from '../../kernel/problem.ts'
import type { KeyScope } from '../../kernel/scopes.ts'
import {
  admitsOperator,
  type BrowserRequest,
  type Credentials,
  type RouteAccess,
  type RouteAuth,
} from '../../platform/http/index.ts'
import type { KeyCache } from './keys/key-cache.ts'
import { type BrowserKey, operatorKeyPrefix } from './keys/project-key.ts'
import type { OperatorKey } from './operator-keys/store.ts'
import type { RoleReader } from './roles/role-reader.ts'
import type { BrowserSessions } from './sessions/sessions.ts'
import type { AccessTokens } from './tokens/access-tokens.ts'
import type { ExternalTokens, TokenPerson } from './tokens/external-tokens.ts'

/**
 * The owner of the credentials. A user has roles. A key or service account has scopes. An
 * operator can call the routes that admit it.
 */
export type Identity =
  | { kind: 'user'; id: string; must_change_password: boolean }
  | { kind: 'operator'; id: string }
  | {
      kind: 'key' | 'service_account'
      id: string
      project_id: string
      scopes: ReadonlySet<KeyScope>
      browser?: BrowserKey | undefined
      /** Whether the project is archived and can only be read. */
      is_archived: boolean
    }

export type IdentityDeps = {
  keys: KeyCache
  operators: KeyCache<OperatorKey>
  tokens: AccessTokens
  /** Tokens of an external issuer, if one is configured. */
  external: ExternalTokens | undefined
  roles: RoleReader
  /**
   * Links a user to the subject of a first token; false when the user is linked to another, or the
   * token is older than the removal of its links. If the e-mail was not proven before, the password
   * and sessions of the account end.
   */
  settleByIssuer: (person: TokenPerson, user_id: string) => Promise<boolean>
  sessions: BrowserSessions
}

/**
 * Authenticates a request by its credential. A request with both a key and a bearer token is
 * refused. A session cookie, which browsers add to every request, is used only without them. Throws
 * `credentials_missing`, `credentials_invalid`, and `credentials_unsupported` for a key, valid or
 * not, on a route that accepts only tokens; `permission_denied` for a cookie that another site
 * sent.
 */
export async function identify(
  { auth, scope }: RouteAccess,
  { authorization, api_key, browser }: Credentials,
  deps: IdentityDeps,
): Promise<Identity> {
  if (authorization !== undefined && api_key !== undefined) {
    throw problem('credentials_invalid', {
      detail: 'The request has both Authorization and X-API-Key, expected one of them',
    })
  }
  if (api_key !== undefined && admitsOperator(scope) && operatorKeyPrefix(api_key) !== undefined) {
    return byOperatorKey(api_key, deps)
  }
  if (api_key !== undefined && auth !== 'jwt') return byKey(api_key, deps)
  if (authorization !== undefined && auth !== 'key') return byBearer(authorization, deps)
  const isGiven = (authorization ?? api_key) !== undefined
  if (!isGiven && auth !== 'key' && browser && deps.sessions.has(browser.headers)) {
    return bySession(browser, deps)
  }
  const code = isGiven ? 'credentials_unsupported' : 'credentials_missing'
  throw problem(code, { detail: expected[auth] })
}

const expected: Record<RouteAuth, string> = {
  public: 'Expected no credentials',
  key: 'Expected a project key in X-API-Key and not an access token',
  jwt: 'Expected an access token (Authorization: Bearer <token>) and not a key',
  jwt_or_key: 'Expected an access token (Authorization: Bearer <token>) or a key in X-API-Key',
}

async function byKey(key: string, { keys }: IdentityDeps): Promise<Identity> {
  const owner = await keys.authenticate(key)
  if (owner === undefined) {
    throw problem('credentials_invalid', { detail: 'X-API-Key is not a valid key' })
  }
  const { key_id, service_account_id, project_id, scopes, browser, is_archived = false } = owner
  return service_account_id === null
    ? { kind: 'key', id: key_id, project_id, scopes, browser, is_archived }
    : { kind: 'service_account', id: service_account_id, project_id, scopes, is_archived }
}

async function byOperatorKey(key: string, { operators }: IdentityDeps): Promise<Identity> {
  const owner = await operators.authenticate(key)
  if (owner !== undefined) return { kind: 'operator', id: owner.key_id }
  throw problem('credentials_invalid', { detail: 'X-API-Key is not a valid key of an operator' })
}

async function byBearer(authorization: string, deps: IdentityDeps): Promise<Identity> {
  const token = bearerToken(authorization)
  if (token.startsWith('lt_')) {
    throw problem('credentials_invalid', {
      detail: 'Authorization: expected an access token; a key goes into X-API-Key',
    })
  }
  const { external, roles, tokens } = deps
  if (external?.claims(token)) {
    return byIssuer(await external.verify(token), deps)
  }
  const subject = await tokens.verify(token)
  if (subject.kind === 'user') {
    const state = await stateFor(subject, roles)
    if (state?.session_number !== subject.session_number) throw invalidToken()
    return { ...userOf(subject.user_id), must_change_password: state.must_change_password }
  }
  const account = await roles.serviceAccount(subject.key_id)
  if (account?.service_account_id !== subject.service_account_id) throw invalidToken()
  const { service_account_id: id, project_id, scopes, is_archived } = account
  return { kind: 'service_account', id, project_id, scopes, is_archived }
}

/** Returns the token of an Authorization header. Throws `credentials_invalid`. */
export function bearerToken(authorization: string): string {
  const token = bearerPattern.exec(authorization)?.[1]
  if (token !== undefined) return token
  throw problem('credentials_invalid', { detail: 'Authorization: expected Bearer <token>' })
}

/** RFC 6750's b64token, bounded. */
const bearerPattern = /^Bearer ([A-Za-z0-9._~+/-]{1,8192}=*)$/i

/** Returns the user's state; read again for a token that is newer than the cached state. */
async function stateFor(
  { user_id, session_number }: { user_id: string; session_number: number },
  roles: RoleReader,
) {
  const cached = await roles.user(user_id)
  if (cached === undefined || session_number <= cached.session_number) return cached
  roles.forget()
  return roles.user(user_id)
}

async function bySession(browser: BrowserRequest, { sessions }: IdentityDeps): Promise<Identity> {
  const session = await sessions.find(browser)
  if (session === undefined) {
    throw problem('credentials_invalid', { detail: 'The session has ended. Sign in again' })
  }
  const { user_id, by_issuer, must_change_password } = session
  return { ...userOf(user_id), must_change_password: must_change_password && !by_issuer }
}

/**
 * Returns the user of a token of the external issuer: by the subject, or at first by the verified
 * e-mail. If the address of the account was not proven before, another person may have chosen its
 * password: password and sessions end.
 */
async function byIssuer(
  person: TokenPerson,
  { roles, settleByIssuer }: IdentityDeps,
): Promise<Identity> {
  const user = await roles.issuerUser(person)
  if (user === undefined) throw invalidToken()
  if (!user.is_settled) {
    if (!(await settleByIssuer(person, user.id))) throw invalidToken()
    roles.forget()
  }
  if ((await roles.user(user.id)) === undefined) throw invalidToken()
  return userOf(user.id)
}

function userOf(id: string) {
  return { kind: 'user' as const, id, must_change_password: false }
}

function invalidToken(): Error {
  return problem('credentials_invalid', { detail: 'The access token is not valid' })
}
