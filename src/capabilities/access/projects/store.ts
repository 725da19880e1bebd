import { problem } from '../../../kernel/problem.ts'
import type { KeyScope, ProjectRole } from '../../../kernel/scopes.ts'
import type { IdPage } from '../../../model/id-pages.ts'
import { type ManagedBy, refuseUnlessOwner } from '../../../model/managed-by.ts'
import type { TaskRule } from '../../../model/task-rules.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { lockOrganization } from '../organizations/store.ts'
import { readById } from '../read-by-id.ts'
import { effectiveRole, keepOnlyProject, visibleProjects } from '../roles/store.ts'

type Db = Kysely<AccessTables>

/** A project. */
export type ProjectRow = {
  id: string
  organization_id: string
  name: string
  created_at: string
  /** Environments that new keys can have; null allows any. */
  environments: string[] | null
  /** The custom resource that declares it. */
  managed_by: ManagedBy | null
  archived_at: string | null
  /** Limit of the scopes of its keys; null sets no limit. */
  key_scopes: KeyScope[] | null
  /** Rules for sessions and tasks of calls that are switched off. */
  task_rules_off: TaskRule[]
  version: number
}

type ProjectPage = IdPage & {
  /** Only archived projects; otherwise only the others. */
  archived?: boolean | undefined
  name?: string | undefined
  /** Name of an organization. */
  organization?: string | undefined
}

/** Returns projects that a user can see, oldest first, optionally of one organization or name. */
export async function listProjects(
  db: Db,
  {
    user_id,
    organization_id,
    name,
    organization,
    archived = false,
    ...page
  }: ProjectPage & { user_id: string; organization_id?: string | undefined },
): Promise<{ rows: (ProjectRow & { role: ProjectRole | null })[]; counted: number }> {
  const visible = visibleProjects(db, user_id, { archived })
    .$if(organization_id !== undefined, (query) =>
      query.where('projects.organization_id', '=', organization_id ?? ''),
    )
    .$if(name !== undefined, (query) => query.where('projects.name', '=', name ?? ''))
    .$if(organization !== undefined, (query) =>
      query.where('projects.organization_id', 'in', organizationNamed(db, organization ?? '')),
    )
    .select(projectColumns)
    .select(['organization_members.role as organization_role'])
    .select(['project_members.role as project_role'])
  const { rows, counted } = await readById(db, visible, 'projects.id', page)
  const shaped = rows.map(({ organization_role, project_role, ...project }) => ({
    ...project,
    role: effectiveRole({ organization_role, project_role }) ?? null,
  }))
  return { rows: shaped, counted }
}

/** Selects the id of the organization with a name. */
function organizationNamed(db: Db, name: string) {
  return db.selectFrom('organizations').select('id').where('name', '=', name)
}

/**
 * Returns projects as an operator sees them, oldest first, optionally of one organization or name.
 */
export async function listAllProjects(
  db: Db,
  { name, organization, ...page }: ProjectPage,
): Promise<{ rows: (ProjectRow & { role: null })[]; counted: number }> {
  const projects = db
    .selectFrom('projects')
    .where('archived_at', 'is', null)
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .$if(organization !== undefined, (query) =>
      query.where('organization_id', 'in', organizationNamed(db, organization ?? '')),
    )
    .select(projectColumns)
  const { rows, counted } = await readById(db, projects, 'id', page)
  return { rows: rows.map((row) => ({ ...row, role: null })), counted }
}

/** Returns a project that is not archived. */
async function findProject(db: Db, project_id: string): Promise<ProjectRow | undefined> {
  const project = await findAnyProject(db, project_id)
  return project?.archived_at === null ? project : undefined
}

/** Returns a project, which may be archived. */
export function findAnyProject(db: Db, project_id: string): Promise<ProjectRow | undefined> {
  return db
    .selectFrom('projects')
    .select(projectColumns)
    .where('id', '=', project_id)
    .executeTakeFirst()
}

/** Creates a project; undefined when the name is taken in its organization. */
export function insertProject(
  db: Db,
  project: {
    id: string
    organization_id: string
    name: string
    environments: string[] | null
    created_at: Date
  },
): Promise<ProjectRow | undefined> {
  return db.transaction().execute(async (trx) => {
    await lockOrganization(trx, project.organization_id)
    await keepOnlyProject(trx, { admins_of: project.organization_id })
    return trx
      .insertInto('projects')
      .values(project)
      .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
      .returning(projectColumns)
      .executeTakeFirst()
  })
}

/**
 * Replaces the environments of a project; undefined for an archived project. Throws
 * `managed_by_kubernetes` if a resource declares the project.
 */
export function replaceEnvironments(
  db: Db,
  {
    project_id,
    environments,
    check,
  }: { project_id: string; environments: string[] | null; check: (version: number) => void },
): Promise<ProjectRow | undefined> {
  return replaceColumns(db, project_id, {
    values: { environments },
    check: ({ managed_by, version }) => {
      refuseUnlessOwner(managed_by, null)
      check(version)
    },
  })
}

/** Replaces the rules that are switched off; undefined for an archived project. */
export function replaceTaskRulesOff(
  db: Db,
  {
    project_id,
    off,
    check,
  }: { project_id: string; off: TaskRule[]; check: (version: number) => void },
): Promise<ProjectRow | undefined> {
  return replaceColumns(db, project_id, {
    values: { task_rules_off: off },
    check: ({ version }) => check(version),
  })
}

type Replacement = {
  values: { environments: string[] | null } | { task_rules_off: TaskRule[] }
  /** Throws if the stored project must stay as it is. */
  check: (stored: Pick<ProjectRow, 'managed_by' | 'version'>) => void
}

function replaceColumns(
  db: Db,
  project_id: string,
  { values, check }: Replacement,
): Promise<ProjectRow | undefined> {
  return db.transaction().execute(async (trx) => {
    const stored = await trx
      .selectFrom('projects')
      .select(['managed_by', 'version'])
      .where('id', '=', project_id)
      .where('archived_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (stored === undefined) return undefined
    check(stored)
    return trx
      .updateTable('projects')
      .set(values)
      .where('id', '=', project_id)
      .returning(projectColumns)
      .executeTakeFirst()
  })
}

/**
 * Throws `invalid_request` unless a new key of the project can have its environment. Call it first
 * in the transaction that inserts the key: a change of the list waits for the end of the
 * transaction.
 */
export async function admitEnvironment(
  trx: Db,
  { project_id, environment }: { project_id: string; environment: string | null },
): Promise<void> {
  if (environment === null) return
  const project = await trx
    .selectFrom('projects')
    .select('environments')
    .where('id', '=', project_id)
    .forShare()
    .executeTakeFirst()
  const allowed = project?.environments ?? [environment]
  if (allowed.includes(environment)) return
  const expected =
    allowed.length === 0
      ? 'no environment: the environments of the project are empty'
      : `one of ${allowed.join(', ')}: the environments of the project`
  const detail = `got ${environment}, expected ${expected}`
  throw problem('invalid_request', {
    detail: `/environment: ${detail}`,
    faults: [{ pointer: '/environment', detail }],
  })
}

/**
 * Locks the organization of a project and returns its id; undefined for an archived project, unless
 * `in_archived`. Every change of memberships begins with it, so that two changes neither overwrite
 * nor block each other.
 */
export async function lockProjectOrganization(
  trx: Db,
  project_id: string,
  { in_archived = false }: { in_archived?: boolean } = {},
): Promise<string | undefined> {
  const find = in_archived ? findAnyProject : findProject
  const project = await find(trx, project_id)
  if (project === undefined) return undefined
  await lockOrganization(trx, project.organization_id)
  return project.organization_id
}

/** Columns of a `ProjectRow`. */
export const projectColumns = [
  'projects.id',
  'projects.organization_id',
  'projects.name',
  'projects.created_at',
  'projects.environments',
  'projects.managed_by',
  'projects.archived_at',
  sql<KeyScope[] | null>`projects.key_scopes`.as('key_scopes'),
  sql<TaskRule[]>`projects.task_rules_off`.as('task_rules_off'),
  'projects.version',
] as const
