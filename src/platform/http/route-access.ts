import type { KeyScope, OrganizationRole, ProjectRole } from '../../kernel/scopes.ts'
import type { TenantScope } from '../tenancy/index.ts'

/** Credentials that a route accepts. `key` is a project's X-API-Key, `jwt` an access token. */
export type RouteAuth = 'public' | 'key' | 'jwt' | 'jwt_or_key'

/**
 * Required permission of the caller. `project`: a role in the project, or a key with the scope.
 * `organization`: a role in the organization of the path. `user`: signed in. `operator: true` also
 * admits a Kubernetes operator, with its own key in X-API-Key regardless of `auth`, in any project
 * that X-Project-ID names. `browser: true` also admits browser keys, from the origins of the key.
 * `before_password_change: true` also admits a user who must first replace their password.
 * `in_archived: true` also admits the call in an archived project, which is otherwise read-only:
 * calls that restore the project, remove access or data, or place and release legal holds.
 */
export type RouteScope =
  | { level: 'public' }
  | { level: 'user'; operator?: true; before_password_change?: true }
  | { level: 'organization'; role: OrganizationRole }
  | {
      level: 'project'
      role: ProjectRole
      key: RouteKeyScope
      operator?: true
      browser?: true
      in_archived?: true
    }

/** The scope, or one of several scopes, that a key needs; null if keys are not accepted. */
export type RouteKeyScope = KeyScope | readonly KeyScope[] | null

/** Returns the scopes of which a key needs one; empty if keys are not accepted. */
export function keyScopesOf(key: RouteKeyScope): readonly KeyScope[] {
  if (key === null) return []
  return typeof key === 'string' ? [key] : key
}

/** Describes the required permission, for example: project viewer, or key scope `tasks:read`. */
export function neededFor(scope: RouteScope): string {
  if (scope.level === 'public') return '–'
  if (scope.level === 'user') return 'to be signed in'
  if (scope.level === 'organization') return `organization ${scope.role}`
  const keys = keyScopesOf(scope.key).map((key) => `\`${key}\``)
  return `project ${scope.role}${keys.length === 0 ? '' : `, or key scope ${keys.join(' or ')}`}`
}

/** Returns whether a Kubernetes operator may call a route of this scope. */
export function admitsOperator(scope: RouteScope): boolean {
  return 'operator' in scope && scope.operator === true
}

/** Returns whether pages of other origins may call a route, with a browser key. */
export function admitsBrowsers(scope: RouteScope): boolean {
  return 'browser' in scope && scope.browser === true
}

/**
 * The authenticated and authorised caller. An `operator` is a Kubernetes operator that acts for
 * custom resources; only routes with `operator: true` admit it.
 */
export type Caller = {
  kind: 'user' | 'service_account' | 'key' | 'operator'
  /** Id of the user, service account, key or operator key. */
  id: string
  /** Project of the call; empty on routes without a project. */
  project_id: string
  /** Organization of the call; set on routes of an organization. */
  organization_id?: string
  /** Set for a browser key, which anybody can read: its calls per minute of each end user. */
  browser?: { user_rate_per_minute: number }
}

/** Returns how rows name the caller who asked for or changed them: `kind:id`. */
export function requesterOf({ kind, id }: Pick<Caller, 'kind' | 'id'>): string {
  return `${kind}:${id}`
}

/** Authorises a request. Throws 401, 403, 404 or `project_required`. */
export type Authorize = (route: RouteAccess, credentials: Credentials) => Promise<Caller>
/** `method` tells reads of an archived project from changes; without it, a call is a change. */
export type RouteAccess = { auth: RouteAuth; scope: RouteScope; method?: string }
export type Credentials = {
  authorization: string | undefined
  api_key: string | undefined
  /** From the `X-Project-ID` header or the `project_id` query parameter. */
  project: string | undefined
  /** The `Origin` header: the page of a call from a browser. */
  origin?: string | undefined
  params: Readonly<Record<string, string>>
  /** For the session cookie of a browser, which counts only without the other credentials. */
  browser?: BrowserRequest
}

/**
 * The request of a session cookie. Another site can make a browser send the cookie, but not all
 * headers.
 */
export type BrowserRequest = {
  method: string
  /**
   * Set when the credentials of an open stream are checked again. The check is not a use of the session,
   * and a cookie that was replaced meanwhile is not a sign of theft.
   */
  is_recheck?: true
  headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Returns the rows that the handler of a route may read and change for a caller. */
export function tenantScopeOf(scope: RouteScope, caller: Caller | null): TenantScope | undefined {
  if (scope.level === 'public') return { kind: 'installation', reason: 'before sign-in' }
  if (scope.level === 'user') return { kind: 'installation', reason: 'memberships of the caller' }
  if (scope.level === 'project' && caller?.project_id) {
    return { kind: 'project', project_id: caller.project_id }
  }
  if (scope.level === 'organization' && caller?.organization_id) {
    return { kind: 'organization', organization_id: caller.organization_id }
  }
  return undefined
}
