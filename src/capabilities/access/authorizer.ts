import { isUuid } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import { type OrganizationRole, organizationRoles, projectRoles } from '../../kernel/scopes.ts'
import { currentCall } from '../../platform/audit/index.ts'
import {
  type Authorize,
  admitsBrowsers,
  type Caller,
  type Credentials,
  keyScopesOf,
  type RouteScope,
} from '../../platform/http/index.ts'
import { type Identity, type IdentityDeps, identify } from './identify.ts'
import type { RoleReader } from './roles/role-reader.ts'

type AuthorizerDeps = IdentityDeps & { roles: RoleReader }

/**
 * Creates the function that authenticates and authorises each request. Order of refusals: 401 for
 * the credentials, 404 for an organization or project that the caller cannot see, 403 for an
 * insufficient role or scope, 409 for a change of an archived project. 503 when the store is
 * unavailable.
 */
export function authorizer(deps: AuthorizerDeps): Authorize {
  return async (route, credentials) => {
    const identity = await identify(route, credentials, deps)
    noteIdentity(identity)
    checkPasswordChange(route.scope, identity)
    return permit(route.scope, { identity, credentials, roles: deps.roles, method: route.method })
  }
}

/** Names the caller in the audit record, also when the call is refused below. */
function noteIdentity(identity: Identity): void {
  const call = currentCall()
  call?.noteActor(identity.kind, identity.id)
  if ('project_id' in identity) call?.noteProject(identity.project_id)
}

/**
 * Throws `password_change_required` until the user has replaced a password set by another person.
 */
export function checkPasswordChange(scope: RouteScope, identity: Identity): void {
  if (identity.kind !== 'user' || !identity.must_change_password) return
  if (scope.level === 'user' && scope.before_password_change) return
  throw problem('password_change_required', {
    detail: 'Replace your password with PUT /api/v1/auth/password, then sign in again',
  })
}

type Question = {
  identity: Identity
  credentials: Credentials
  roles: RoleReader
  method: string | undefined
}
type ProjectScope = Extract<RouteScope, { level: 'project' }>

function permit(scope: RouteScope, question: Question): Promise<Caller> {
  switch (scope.level) {
    case 'project':
      return permitInProject(scope, question)
    case 'organization':
      return permitInOrganization(scope.role, question)
    case 'user':
      return Promise.resolve({ ...personOrOperator(question.identity), project_id: '' })
    case 'public':
      return Promise.resolve({ ...personOf(question.identity), project_id: '' })
  }
}

function permitInProject(scope: ProjectScope, question: Question): Promise<Caller> {
  switch (question.identity.kind) {
    case 'user':
      return permitUserInProject(scope, question)
    case 'operator':
      return permitOperator(question.identity.id, question)
    default:
      return permitScopes(scope, question)
  }
}

/**
 * Authorises an operator in any project. `identify` has checked that the route admits operators.
 */
async function permitOperator(id: string, { credentials, roles }: Question): Promise<Caller> {
  const named = credentials.params['project_id'] ?? credentials.project
  if (named === undefined) throw projectRequired()
  const project_id = named.toLowerCase()
  if (!isUuid(project_id) || !(await roles.isProject(project_id))) throw projectNotFound(named)
  return { kind: 'operator', id, project_id }
}

/** Authorises a key or service account in its own project, within its scopes. */
async function permitScopes(scope: ProjectScope, question: Question): Promise<Caller> {
  const { identity, credentials } = question
  if (!('scopes' in identity)) throw problem('permission_denied')
  const named = credentials.params['project_id'] ?? credentials.project
  if (named !== undefined && named.toLowerCase() !== identity.project_id) {
    throw projectNotFound(named)
  }
  const wanted = keyScopesOf(scope.key)
  if (wanted.length === 0) {
    throw problem('permission_denied', { detail: 'This requires a signed-in user' })
  }
  if (!wanted.some((name) => identity.scopes.has(name))) {
    throw problem('permission_denied', { detail: `This requires the scope ${wanted.join(' or ')}` })
  }
  if (identity.is_archived) refuseChange(scope, question)
  const caller = { kind: identity.kind, id: identity.id, project_id: identity.project_id }
  const { browser } = identity
  if (browser === undefined) return caller
  checkOrigin(scope, { origins: browser.origins, origin: credentials.origin })
  return { ...caller, browser: { user_rate_per_minute: browser.user_rate_per_minute } }
}

/** Throws `permission_denied` unless the route admits browser keys, and the key the origin. */
function checkOrigin(
  scope: ProjectScope,
  { origins, origin }: { origins: readonly string[]; origin: string | undefined },
): void {
  if (!admitsBrowsers(scope)) {
    throw problem('permission_denied', { detail: 'A browser key can only send feedback' })
  }
  if (origin !== undefined && origins.includes(origin)) return
  const got = origin === undefined ? 'no Origin header' : `Origin "${origin.slice(0, 80)}"`
  throw problem('permission_denied', {
    detail: `${got}: expected an origin that the browser key lists`,
  })
}

async function permitUserInProject(scope: ProjectScope, question: Question): Promise<Caller> {
  const { role } = scope
  const person = personOf(question.identity)
  const { project_id, seen } = await selectProject(person.id, question)
  currentCall()?.noteProject(project_id)
  if (projectRoles.indexOf(seen.role) < projectRoles.indexOf(role)) {
    throw problem('permission_denied', {
      detail: `This requires the project role ${role}, yours is ${seen.role}`,
    })
  }
  if (seen.is_archived) refuseChange(scope, question)
  return { ...person, project_id }
}

/** Throws `project_archived` for a change. Routes for viewers count as reads. */
function refuseChange({ role, in_archived }: ProjectScope, { method }: Question): void {
  if (method === 'GET' || role === 'viewer' || in_archived === true) return
  throw problem('project_archived', {
    detail:
      'The project is archived: its data can be read, and retention goes on. An admin of the project can restore it with POST /api/v2/access/projects/{project_id}/unarchive',
  })
}

/** Checks the organization of the path, or else the organization of the selected project. */
async function permitInOrganization(role: OrganizationRole, question: Question): Promise<Caller> {
  const person = personOf(question.identity)
  const { credentials, roles } = question
  const named = credentials.params['organization_id']
  const selected = named === undefined ? await selectProject(person.id, question) : undefined
  const organization_id = selected?.seen.organization_id ?? named ?? ''
  const own = isUuid(organization_id)
    ? await roles.organizationRole(person.id, organization_id.toLowerCase())
    : undefined
  if (own === undefined) {
    throw problem('organization_not_found', {
      detail: `There is no organization "${organization_id.slice(0, 80)}" that you can see`,
    })
  }
  currentCall()?.noteOrganization(organization_id.toLowerCase())
  if (organizationRoles.indexOf(own) < organizationRoles.indexOf(role)) {
    throw problem('permission_denied', {
      detail: `This requires the organization role ${role}, yours is ${own}`,
    })
  }
  return {
    ...person,
    project_id: selected?.project_id ?? '',
    organization_id: organization_id.toLowerCase(),
  }
}

/** Returns the project of the path, header or query, in this order, or else the user's default. */
async function selectProject(user_id: string, { credentials, roles }: Question) {
  const named = credentials.params['project_id'] ?? credentials.project
  const project_id = named?.toLowerCase() ?? (await roles.defaultProject(user_id))
  if (project_id === undefined) throw projectRequired()
  const seen = isUuid(project_id) ? await roles.projectRole(user_id, project_id) : undefined
  if (seen === undefined) throw projectNotFound(project_id)
  return { project_id, seen }
}

function personOrOperator(identity: Identity): { kind: 'user' | 'operator'; id: string } {
  return identity.kind === 'operator' ? identity : personOf(identity)
}

function personOf(identity: Identity): { kind: 'user'; id: string } {
  if (identity.kind === 'user') return { kind: 'user', id: identity.id }
  throw problem('permission_denied', { detail: 'This requires a signed-in user' })
}

function projectRequired(): Error {
  return problem('project_required', {
    detail:
      'Name a project in the X-Project-ID header or the project_id query parameter, or set a default with PUT /api/v1/auth/default-project',
  })
}

function projectNotFound(project_id: string): Error {
  return problem('project_not_found', {
    detail: `There is no project "${project_id.slice(0, 80)}" that you can see`,
  })
}
