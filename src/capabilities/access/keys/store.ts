import { problem } from '../../../kernel/problem.ts'
import type { KeyScope } from '../../../kernel/scopes.ts'
import {
  type AccessTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import { admitScopes } from '../projects/key-scopes-limit.ts'
import { admitEnvironment } from '../projects/store.ts'
import { readById } from '../read-by-id.ts'
import { lockAccount, refuseSuspended } from '../service-accounts/suspension.ts'
import type { BrowserColumns } from './browser-key.ts'
import { isKeyScope } from './usable-keys-store.ts'

type Db = Kysely<AccessTables>

/** A stored key without the hash of its secret. */
export type KeyRow = Omit<Selectable<AccessTables['api_keys']>, 'secret_hash' | 'scopes'> & {
  scopes: KeyScope[]
  /** First 16 hex digits of the SHA-256 of the secret, by which its owner can identify it. */
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
  const { project_id, service_account_id, live_at } = page
  const keys = db
    .selectFrom('api_keys')
    .where('project_id', '=', project_id)
    .$if(service_account_id !== undefined, (query) =>
      query.where('service_account_id', '=', service_account_id ?? null),
    )
    .$if(live_at !== undefined, (query) => query.where(isLive(live_at ?? new Date(0))))
    .select(keyColumns)
  const { rows, counted } = await readById(db, keys, 'id', page)
  return { rows: rows.map(keyRow), counted }
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

function keyRow<R extends { scopes: string[] }>(row: R): R & { scopes: KeyScope[] } {
  return { ...row, scopes: row.scopes.filter(isKeyScope) }
}

/**
 * Maximum live keys of one name in a service account: the current key, and during a rotation the
 * previous one. It bounds a caller in a loop, such as an operator whose writes of a Secret fail.
 */
const maxLiveKeys = 2

/**
 * Locks the account of a new key, if it has one, and checks that it may have the key. Call it in
 * the transaction that inserts the key. Throws `service_account_not_found`,
 * `service_account_suspended`, `key_limit_reached`.
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
  if (live < maxLiveKeys) return
  throw problem('key_limit_reached', {
    detail: `The service account has ${live} live keys with the name "${name}", the maximum. Revoke one first, or use another name`,
  })
}

/** Matches keys that are neither revoked nor expired at this time. */
export function isLive(at: Date) {
  return sql<boolean>`(revoked_at is null
    and (expires_at is null or expires_at > ${at.toISOString()}::timestamptz))`
}
