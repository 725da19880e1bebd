import { problem } from '../../../kernel/problem.ts'
import { type KeyScope, keyScopes } from '../../../kernel/scopes.ts'
import {
  type AccessTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import { admitScopes } from '../projects/key-scopes-limit.ts'
import { admitEnvironment } from '../projects/store.ts'
import { lockAccount, refuseSuspended } from '../service-accounts/suspension.ts'
import { type BrowserColumns, browserPart } from './browser-key.ts'
import type { StoredKey } from './key-cache.ts'
import type { KeyUse } from './key-usage.ts'

type Db = Kysely<AccessTables>

/** A stored key without the hash of its secret. */
export type KeyRow = Omit<Selectable<AccessTables['api_keys']>, 'secret_hash' | 'scopes'> & {
  scopes: KeyScope[]
  /** As `fingerprintOf` makes it. */
  fingerprint: string
}

/** Columns of a new key; instants come from the caller's clock. */
export type KeyInsert = {
  id: string
  project_id: string
  service_account_id: string | null
  name: string
  prefix: string
  secret_hash: Buffer
  scopes: readonly KeyScope[]
  created_at: Date
  created_by: string | null
  expires_at: Date | null
  environment: string | null
} & Partial<BrowserColumns>

/** Reads a key for the cache; undefined when the key is revoked or its service account disabled. */
export async function readKey(db: Db, prefix: string): Promise<StoredKey | undefined> {
  const row = await usableKeys(db).where('api_keys.prefix', '=', prefix).executeTakeFirst()
  return row && toStoredKey(row)
}

/** Reads a service account's key by its id, to check an access token that was issued for it. */
export async function readKeyById(db: Db, key_id: string): Promise<StoredKey | undefined> {
  const row = await usableKeys(db).where('api_keys.id', '=', key_id).executeTakeFirst()
  return row && toStoredKey(row)
}

/** Stores when keys were last used, in one statement. */
export async function writeKeyUses(db: Db, uses: readonly KeyUse[]): Promise<void> {
  const ids = uses.map(({ key_id }) => key_id)
  const instants = uses.map(({ used_at }) => used_at.toISOString())
  await sql`
    update api_keys set last_used_at = greatest(api_keys.last_used_at, used.at)
    from unnest(${ids}::uuid[], ${instants}::timestamptz[]) as used(id, at)
    where api_keys.id = used.id`.execute(db)
}

/** Inserts a key without any check, and returns the stored row. */
export async function insertKey(db: Db, key: KeyInsert): Promise<KeyRow> {
  const row = await db
    .insertInto('api_keys')
    .values({ ...key, scopes: [...key.scopes], origins: key.origins ? [...key.origins] : null })
    .returning(keyColumns)
    .executeTakeFirstOrThrow()
  return keyRow(row)
}

/**
 * Inserts a key if its project and its service account allow it. Throws `invalid_request` for an
 * environment that the project does not list, and the errors of `admitAccountKey`.
 */
export function addKey(db: Db, key: KeyInsert): Promise<KeyRow> {
  return db.transaction().execute(async (trx) => {
    await admitEnvironment(trx, key)
    if (key.service_account_id === null) await admitScopes(trx, key)
    await admitAccountKey(trx, key)
    return insertKey(trx, key)
  })
}

/** Returns one key of a project. */
export async function findKey(
  db: Db,
  { project_id, api_key_id }: { project_id: string; api_key_id: string },
): Promise<KeyRow | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .select(keyColumns)
    .where('project_id', '=', project_id)
    .where('id', '=', api_key_id)
    .executeTakeFirst()
  return row && keyRow(row)
}

/** Returns a page of a project's keys, oldest first, and their number up to `count_max`. */
export async function listKeys(
  db: Db,
  page: {
    project_id: string
    service_account_id: string | undefined
    /** Only keys that are neither revoked nor expired at this time. */
    live_at?: Date | undefined
    after: string | undefined
    limit: number
    count_max: number
  },
): Promise<{ rows: KeyRow[]; counted: number }> {
  const { project_id, service_account_id, live_at, after, limit, count_max } = page
  const keys = db
    .selectFrom('api_keys')
    .where('project_id', '=', project_id)
    .$if(service_account_id !== undefined, (query) =>
      query.where('service_account_id', '=', service_account_id ?? null),
    )
    .$if(live_at !== undefined, (query) => query.where(isLive(live_at ?? new Date(0))))
  const counted = await db
    .selectFrom(keys.select('id').limit(count_max).as('some'))
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const rows = await keys
    .select(keyColumns)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
  return { rows: rows.map(keyRow), counted: counted.n }
}

/**
 * Changes a key; undefined when it is revoked or does not exist. `ends_at` brings its expiry
 * forward, but never puts it off.
 */
export async function updateKey(
  db: Db,
  { project_id, api_key_id }: { project_id: string; api_key_id: string },
  change: { scopes?: KeyScope[]; revoked_at?: Date; ends_at?: Date },
): Promise<KeyRow | undefined> {
  const { ends_at, ...columns } = change
  const row = await db
    .updateTable('api_keys')
    .set({ ...columns, ...(ends_at !== undefined && { expires_at: atLatest(ends_at) }) })
    .where('project_id', '=', project_id)
    .where('id', '=', api_key_id)
    .where('revoked_at', 'is', null)
    .returning(keyColumns)
    .executeTakeFirst()
  return row && keyRow(row)
}

/**
 * Replaces a key by a new one in one transaction. The old key is revoked, or expires at `ends_at`
 * when that is before its own expiry. Undefined when it was revoked meanwhile. Throws
 * the errors of `addKey`.
 */
export function replaceKey(
  db: Db,
  old: { project_id: string; api_key_id: string },
  change: { by: KeyInsert; at: Date; ends_at: Date },
): Promise<{ added: KeyRow; previous: KeyRow } | undefined> {
  return db.transaction().execute(async (trx) => {
    const { at, ends_at } = change
    await admitEnvironment(trx, change.by)
    const row = await trx
      .updateTable('api_keys')
      .set(ends_at <= at ? { revoked_at: at } : { expires_at: atLatest(ends_at) })
      .where('project_id', '=', old.project_id)
      .where('id', '=', old.api_key_id)
      .where('revoked_at', 'is', null)
      .returning(keyColumns)
      .executeTakeFirst()
    if (row === undefined) return undefined
    await admitAccountKey(trx, change.by)
    return { added: await insertKey(trx, change.by), previous: keyRow(row) }
  })
}

const keyColumns = [
  'id',
  'project_id',
  'service_account_id',
  'name',
  'prefix',
  'scopes',
  'created_at',
  'created_by',
  'environment',
  'origins',
  'user_rate_per_minute',
  'expires_at',
  'revoked_at',
  'last_used_at',
  sql<string>`encode(substring(secret_hash from 1 for 8), 'hex')`.as('fingerprint'),
] as const

/** Returns the earlier of the expiry and an instant; `least` ignores nulls. */
function atLatest(instant: Date) {
  return sql<string>`least(expires_at, ${instant.toISOString()}::timestamptz)`
}

function usableKeys(db: Db) {
  return db
    .selectFrom('api_keys')
    .innerJoin('projects', 'projects.id', 'api_keys.project_id')
    .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
    .leftJoin('service_accounts', 'service_accounts.id', 'api_keys.service_account_id')
    .select([
      'projects.archived_at',
      'projects.key_scopes as project_scopes',
      'organizations.key_scopes as organization_scopes',
      'api_keys.id',
      'api_keys.project_id',
      'api_keys.service_account_id',
      'api_keys.secret_hash',
      'api_keys.scopes',
      'api_keys.environment',
      'api_keys.origins',
      'api_keys.user_rate_per_minute',
      'api_keys.expires_at',
      'service_accounts.scopes as account_scopes',
    ])
    .where('api_keys.revoked_at', 'is', null)
    .where('service_accounts.disabled_at', 'is', null)
}

type UsableKey = BrowserColumns & {
  id: string
  project_id: string
  service_account_id: string | null
  secret_hash: Buffer
  scopes: string[]
  environment: string | null
  expires_at: string | null
  account_scopes: string[] | null
  project_scopes: string[] | null
  organization_scopes: string[] | null
  archived_at: string | null
}

/** A key has its scopes that its service account, project and organization also allow. */
function toStoredKey(row: UsableKey): StoredKey {
  const limits = [row.account_scopes, row.project_scopes, row.organization_scopes]
  const isAllowed = (scope: string) => limits.every((limit) => limit?.includes(scope) ?? true)
  const scopes = row.scopes.filter(isAllowed)
  const owner = {
    key_id: row.id,
    project_id: row.project_id,
    service_account_id: row.service_account_id,
    scopes: new Set(scopes.filter(isKeyScope)),
    ...(row.environment !== null && { environment: row.environment }),
    ...browserPart(row),
    ...(row.archived_at !== null && { is_archived: true as const }),
  }
  return {
    owner,
    secret_hash: row.secret_hash,
    expires_at_ms: row.expires_at === null ? null : Date.parse(row.expires_at),
  }
}

function keyRow<R extends { scopes: string[] }>(row: R): R & { scopes: KeyScope[] } {
  return { ...row, scopes: row.scopes.filter(isKeyScope) }
}

function isKeyScope(scope: string): scope is KeyScope {
  return keyScopes.some((known) => known === scope)
}

/**
 * Maximum live keys of one name in a service account: the current key, and the one before it during
 * a rotation. It bounds a caller in a loop, for example an operator whose writes of a Secret fail.
 */
const liveKeys_max = 2

/**
 * Locks the account of a new key, if it has one, and checks that it may have the key. Call it in the
 * transaction that inserts the key. Throws `service_account_not_found`, `service_account_suspended`,
 * `key_limit_reached`.
 */
async function admitAccountKey(trx: Db, key: KeyInsert): Promise<void> {
  const { project_id, service_account_id, name, created_at } = key
  if (service_account_id === null) return
  refuseSuspended(await lockAccount(trx, { project_id, service_account_id }))
  const { live } = await trx
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<number>().as('live'))
    .where('service_account_id', '=', service_account_id)
    .where('name', '=', name)
    .where(isLive(created_at))
    .executeTakeFirstOrThrow()
  if (live < liveKeys_max) return
  throw problem('key_limit_reached', {
    detail: `The service account has ${live} live keys with the name "${name}", the maximum. Revoke one first, or use another name`,
  })
}

/** Matches keys that are neither revoked nor expired at this time. */
export function isLive(at: Date) {
  return sql<boolean>`(revoked_at is null
    and (expires_at is null or expires_at > ${at.toISOString()}::timestamptz))`
}
