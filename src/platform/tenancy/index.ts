import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The rows of PostgreSQL that work may read and change. `project`: rows of one project, and records
 * of its organization's audit chain; without `organization_id`, PostgreSQL finds it. `projects`:
 * rows of the projects of a batch, in the few tables that batches write (tenant-policies.ts).
 * `organization`: rows of one organization and its members, projects and invitations.
 * `installation`: all rows, for work over all tenants. `owner`: statements that only the owner of
 * the tables can run, such as creating a partition; they see no rows of tenants when the login is
 * not a superuser. `reason` says why the work needs more than one tenant.
 */
export type TenantScope =
  | { kind: 'project'; project_id: string; organization_id?: string }
  | { kind: 'projects'; project_ids: readonly string[] }
  | { kind: 'organization'; organization_id: string }
  | { kind: 'installation'; reason: string }
  | { kind: 'owner'; reason: string }

const scopes = new AsyncLocalStorage<TenantScope | undefined>()

/** Returns the scope of the running work; undefined outside of one. */
export function currentScope(): TenantScope | undefined {
  return scopes.getStore()
}

/**
 * Runs work in a scope, which its timers and promises keep. Throws RangeError when an id is not a
 * UUID. Undefined ends the scope of the caller.
 */
export function runInScope<T>(scope: TenantScope | undefined, work: () => T): T {
  return scopes.run(scope === undefined ? undefined : checked(scope), work)
}

/** Runs work that reads and changes rows of one project. */
export function runInProject<T>(project_id: string, work: () => T): T {
  const current = currentScope()
  // The same scope again would be sent again inside of a transaction.
  if (current?.kind === 'project' && current.project_id === project_id) return work()
  return runInScope({ kind: 'project', project_id }, work)
}

/** Adds the organization to the scope of its project, and runs work. Keeps any other scope. */
export function runWithOrganization<T>(
  { project_id, organization_id }: { project_id: string; organization_id: string },
  work: () => T,
): T {
  const current = currentScope()
  if (current?.kind !== 'project' || current.project_id !== project_id) return work()
  return runInScope({ ...current, organization_id }, work)
}

/**
 * Runs work on a batch of some projects, in the scope of the project if there is only one. Equal
 * ids count once.
 */
export function runInProjects<T>(project_ids: Iterable<string>, work: () => T): T {
  const unique = [...new Set(project_ids)]
  const [only] = unique
  if (only !== undefined && unique.length === 1) return runInProject(only, work)
  return runInScope({ kind: 'projects', project_ids: unique }, work)
}

/** Runs work that reads and changes rows of one organization. */
export function runInOrganization<T>(organization_id: string, work: () => T): T {
  return runInScope({ kind: 'organization', organization_id }, work)
}

/** Runs work over all tenants. `reason` says why one tenant is not enough. */
export function runInInstallation<T>(reason: string, work: () => T): T {
  return runInScope({ kind: 'installation', reason }, work)
}

/** Runs statements of the owner of the tables, outside of the role of the service. */
export function runAsOwner<T>(reason: string, work: () => T): T {
  return runInScope({ kind: 'owner', reason }, work)
}

function checked(scope: TenantScope): TenantScope {
  if (scope.kind === 'project') {
    checkId('project_id', scope.project_id)
    if (scope.organization_id !== undefined) checkId('organization_id', scope.organization_id)
  }
  if (scope.kind === 'projects') for (const id of scope.project_ids) checkId('project_id', id)
  if (scope.kind === 'organization') checkId('organization_id', scope.organization_id)
  return scope
}

/** Any 16 bytes, as PostgreSQL reads them: imported ids need no version. */
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function checkId(name: string, id: string): void {
  if (uuidPattern.test(id)) return
  throw new RangeError(`${name} "${id.slice(0, 80)}" of a tenant scope: expected a UUID`)
}
