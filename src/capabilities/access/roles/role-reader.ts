import type { KeyScope, OrganizationRole } from '../../../kernel/scopes.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { readKeyById } from '../keys/store.ts'
import { createReadCache } from './read-cache.ts'
import {
  readOrganizationRole,
  readProjectExists,
  readProjectRole,
  readUserByEmail,
  readUserIsActive,
  readVisibleProjects,
  type SeenProject,
} from './store.ts'

/** What callers may do, as Postgres says; answers are at most `ttl_ms` old. */
export type RoleReader = {
  /** False for a user who is disabled or gone. */
  isActive(user_id: string): Promise<boolean>
  /** The user with this (lower-case) e-mail, for tokens of an external issuer. */
  userByEmail(email: string): Promise<string | undefined>
  organizationRole(user_id: string, organization_id: string): Promise<OrganizationRole | undefined>
  /** Whether there is such a project that is not archived; a no is never out of date. */
  isProject(project_id: string): Promise<boolean>
  /** Undefined when the user can not see the project. */
  projectRole(user_id: string, project_id: string): Promise<SeenProject | undefined>
  /** The only project the user can see; undefined when there are none or more. */
  onlyProject(user_id: string): Promise<string | undefined>
  /** What a service account may do with the key that it got its token with. */
  serviceAccount(key_id: string): Promise<SeenServiceAccount | undefined>
  /** Called after a change, so that it counts at once in this process. */
  forget(): void
}

export type SeenServiceAccount = {
  service_account_id: string
  project_id: string
  scopes: ReadonlySet<KeyScope>
}

/** Reads roles through a bounded cache; in other processes a change counts within `ttl_ms`. */
export function createRoleReader(options: {
  db: Kysely<AccessTables>
  clock: Clock
  ttl_ms?: number
  entries_max?: number
}): RoleReader {
  const { db, clock, ttl_ms = 30_000, entries_max = 10_000 } = options
  const limits = { ttl_ms, entries_max, clock }
  const active = createReadCache<boolean>(limits)
  const emails = createReadCache<string | undefined>(limits)
  const organizations = createReadCache<OrganizationRole | undefined>(limits)
  const projects = createReadCache<SeenProject | undefined>(limits)
  const existing = createReadCache<true>(limits)
  const only = createReadCache<string | undefined>(limits)
  const accounts = createReadCache<SeenServiceAccount | undefined>(limits)
  return {
    isActive: (user) => active.get(user, () => readUserIsActive(db, user)),
    userByEmail: (email) => emails.get(email, () => readUserByEmail(db, email)),
    organizationRole: (user, organization) =>
      organizations.get(`${user} ${organization}`, () =>
        readOrganizationRole(db, { user_id: user, organization_id: organization }),
      ),
    isProject: (project) =>
      existing
        .get(project, async () => {
          if (await readProjectExists(db, project)) return true
          throw new NoSuchProject()
        })
        .catch((error: unknown) => {
          if (error instanceof NoSuchProject) return false
          throw error
        }),
    projectRole: (user, project) =>
      projects.get(`${user} ${project}`, () =>
        readProjectRole(db, { user_id: user, project_id: project }),
      ),
    onlyProject: (user) =>
      only.get(user, async () => {
        const [first, second] = await readVisibleProjects(db, { user_id: user, limit: 2 })
        return second === undefined ? first : undefined
      }),
    serviceAccount: (key) => accounts.get(key, () => serviceAccountOf(db, key, clock)),
    forget: () => {
      for (const cache of [active, emails, organizations, projects, existing, only, accounts])
        cache.clear()
    },
  }
}

/** Keeps a no out of the cache, which holds no failures. */
class NoSuchProject extends Error {
  override readonly name = 'NoSuchProject'
}

async function serviceAccountOf(
  db: Kysely<AccessTables>,
  key_id: string,
  clock: Clock,
): Promise<SeenServiceAccount | undefined> {
  const key = await readKeyById(db, key_id)
  if (key === undefined || key.owner.service_account_id === null) return undefined
  if (key.expires_at_ms !== null && key.expires_at_ms <= clock.now_ms()) return undefined
  const { service_account_id, project_id, scopes } = key.owner
  return { service_account_id, project_id, scopes }
}
