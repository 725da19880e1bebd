import { problem } from '../../kernel/problem.ts'
import type { KeyScope } from '../../kernel/scopes.ts'
import {
  type Credentials,
  letsOperatorIn,
  type RouteAccess,
  type RouteAuth,
} from '../../platform/http/index.ts'
import type { KeyCache } from './keys/key-cache.ts'
import { operatorKeyPrefix } from './keys/project-key.ts'
import type { OperatorKey } from './operator-keys/store.ts'
import type { RoleReader } from './roles/role-reader.ts'
import type { AccessTokens } from './tokens/access-tokens.ts'
import type { ExternalTokens } from './tokens/external-tokens.ts'

/**
 * The owner of the credentials. A user has roles, a key or service account has scopes, and an
 * operator has the routes that admit it.
 */
export type Identity =
  | { kind: 'user'; id: string }
  | { kind: 'operator'; id: string }
  | {
      kind: 'key' | 'service_account'
      id: string
      project_id: string
      scopes: ReadonlySet<KeyScope>
    }

export type IdentityDeps = {
  keys: KeyCache
  operators: KeyCache<OperatorKey>
  tokens: AccessTokens
  /** Tokens of an external issuer, if one is configured. */
  external: ExternalTokens | undefined
  roles: RoleReader
}

/**
 * Authenticates a request by its one credential; both a key and a bearer token are refused. Throws
 * `credentials_missing`, `credentials_invalid`, and `credentials_unsupported` for a key, valid or
 * not, on a route that accepts only tokens.
 */
export async function identify(
  { auth, scope }: RouteAccess,
  { authorization, api_key }: Credentials,
  deps: IdentityDeps,
): Promise<Identity> {
  if (authorization !== undefined && api_key !== undefined) {
    throw problem('credentials_invalid', {
      detail: 'The request has both Authorization and X-API-Key, expected one of them',
    })
  }
  if (api_key !== undefined && letsOperatorIn(scope) && operatorKeyPrefix(api_key) !== undefined) {
    return byOperatorKey(api_key, deps)
  }
  if (api_key !== undefined && auth !== 'jwt') return byKey(api_key, deps)
  if (authorization !== undefined && auth !== 'key') return byBearer(authorization, deps)
  const isGiven = (authorization ?? api_key) !== undefined
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
  const { key_id, service_account_id, project_id, scopes } = owner
  return service_account_id === null
    ? { kind: 'key', id: key_id, project_id, scopes }
    : { kind: 'service_account', id: service_account_id, project_id, scopes }
}

async function byOperatorKey(key: string, { operators }: IdentityDeps): Promise<Identity> {
  const owner = await operators.authenticate(key)
  if (owner !== undefined) return { kind: 'operator', id: owner.key_id }
  throw problem('credentials_invalid', { detail: 'X-API-Key is not a valid key of an operator' })
}

async function byBearer(authorization: string, deps: IdentityDeps): Promise<Identity> {
  const token = bearerPattern.exec(authorization)?.[1]
  if (token === undefined) {
    throw problem('credentials_invalid', { detail: 'Authorization: expected Bearer <token>' })
  }
  if (token.startsWith('lt_')) {
    throw problem('credentials_invalid', {
      detail: 'Authorization: expected an access token; a key goes into X-API-Key',
    })
  }
  const { external, roles, tokens } = deps
  if (external?.claims(token)) {
    const { email } = await external.verify(token)
    return activeUser(await roles.userByEmail(email), roles)
  }
  const subject = await tokens.verify(token)
  if (subject.kind === 'user') return activeUser(subject.user_id, roles)
  const account = await roles.serviceAccount(subject.key_id)
  if (account?.service_account_id !== subject.service_account_id) throw invalidToken()
  const { service_account_id: id, project_id, scopes } = account
  return { kind: 'service_account', id, project_id, scopes }
}

/** RFC 6750's b64token, bounded. */
const bearerPattern = /^Bearer ([A-Za-z0-9._~+/-]{1,8192}=*)$/i

async function activeUser(user_id: string | undefined, roles: RoleReader): Promise<Identity> {
  if (user_id === undefined || !(await roles.isActive(user_id))) throw invalidToken()
  return { kind: 'user', id: user_id }
}

function invalidToken(): Error {
  return problem('credentials_invalid', { detail: 'The access token is not valid' })
}
