import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { KeyScope, OrganizationRole } from '../../../kernel/scopes.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { readKeyById } from '../keys/usable-keys-store.ts'
import type { IssuerPerson } from '../oidc/person.ts'
import { type IssuerUser, readIssuerUser } from '../oidc/store.ts'
import {
  readDefaultProject,
  readOrganizationRole,
  readProjectExists,
  readProjectRole,
  readUserState,
  type SeenProject,
  type UserState,
} from './store.ts'

/** Reads the roles and states of callers; answers are at most `ttl_ms` old. */
export type RoleReader = {
  /** Returns the state of a user; undefined for a disabled or unknown one. */
  user(user_id: string): Promise<UserState | undefined>
  /** Returns the user of a token of the external issuer. */
  issuerUser(person: IssuerPerson): Promise<IssuerUser | undefined>
  organizationRole(user_id: string, organization_id: string): Promise<OrganizationRole | undefined>
  /** Whether the project exists and is not archived. Only a positive answer is cached. */
  isProject(project_id: string): Promise<boolean>
  /** Returns the user's role; undefined when the user cannot see the project. */
  projectRole(user_id: string, project_id: string): Promise<SeenProject | undefined>
  /** Returns the default project of a user; undefined without one. */
  defaultProject(user_id: string): Promise<string | undefined>
  /** Returns a service account and its scopes by the key for which its token was issued. */
  serviceAccount(key_id: string): Promise<SeenServiceAccount | undefined>
  /**
   * Forgets all answers. Call it after a change, so that it takes effect at once in this process.
   */
  forget(): void
}

type SeenServiceAccount = {
  service_account_id: string
  project_id: string
  scopes: ReadonlySet<KeyScope>
  is_archived: boolean
}

/** Creates a reader with a bounded cache; other processes see a change within 30 seconds. */
export function createRoleReader({
  db,
  clock,
}: {
  db: Kysely<AccessTables>
  clock: Clock
}): RoleReader {
  const limits = { ttl_ms: 30_000, entries_max: 10_000, clock }
  const users = createReadCache<UserState | undefined>(limits)
  const subjects = createReadCache<IssuerUser | undefined>(limits)
  const organizations = createReadCache<OrganizationRole | undefined>(limits)
  const projects = createReadCache<SeenProject | undefined>(limits)
  const existing = createReadCache<true>(limits)
  const defaults = createReadCache<string | undefined>(limits)
  const accounts = createReadCache<SeenServiceAccount | undefined>(limits)
  return {
    user: (user) => users.get(user, () => readUserState(db, user)),
    issuerUser: (person) => {
      const key = JSON.stringify([person.issuer, person.client_id, person.subject, person.email])
      return subjects.get(key, () => readIssuerUser(db, person))
    },
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
    defaultProject: (user) => defaults.get(user, () => readDefaultProject(db, user)),
    serviceAccount: (key) => accounts.get(key, () => serviceAccountOf(db, key, clock)),
    forget: () => {
      for (const cache of [users, subjects, organizations, projects, existing, defaults, accounts])
        cache.clear()
    },
  }
}

/** Marks a negative answer. It is thrown, because the cache does not keep failures. */
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
  const { service_account_id, project_id, scopes, is_archived = false } = key.owner
  return { service_account_id, project_id, scopes, is_archived }
}

/** Caches reads for some time. Concurrent readers of one key share a read. */
type ReadCache<T> = {
  get(key: string, read: () => Promise<T>): Promise<T>
  /** Clears the cache. A read in progress returns its result without caching it. */
  clear(): void
}

/** Creates a cache with a lifetime and a number of entries. Failures are not kept. */
export function createReadCache<T>(options: {
  ttl_ms: number
  entries_max: number
  clock: Clock
}): ReadCache<T> {
  const { ttl_ms, entries_max, clock } = options
  const entries = new BoundedCache<string, { value: Promise<T>; read_at_ms: number }>(entries_max)
  return {
    get: (key, read) => {
      const now_ms = clock.now_ms()
      const held = entries.get(key)
      if (held !== undefined && now_ms - held.read_at_ms < ttl_ms) return held.value
      const value = read()
      const entry = { value, read_at_ms: now_ms }
      entries.set(key, entry)
      value.catch(() => {
        if (entries.get(key) === entry) entries.delete(key)
      })
      return value
    },
    clear: () => entries.clear(),
  }
}
