import { type KeyScope, keyScopes } from '../../../kernel/scopes.ts'
import { taskRules } from '../../../model/task-rules.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { type BrowserColumns, browserPart } from './browser-key.ts'
import type { StoredKey } from './key-cache.ts'
import type { KeyUse } from './key-usage.ts'

type Db = Kysely<AccessTables>

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

function usableKeys(db: Db) {
  return db
    .selectFrom('api_keys')
    .innerJoin('projects', 'projects.id', 'api_keys.project_id')
    .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
    .leftJoin('service_accounts', 'service_accounts.id', 'api_keys.service_account_id')
    .select([
      'projects.archived_at',
      'projects.task_rules_off',
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
  task_rules_off: string[]
}

/** Returns the scopes of a key that its service account, project and organization also allow. */
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
    ...rulesOff(row),
  }
  return {
    owner,
    secret_hash: row.secret_hash,
    expires_at_ms: row.expires_at === null ? null : Date.parse(row.expires_at),
  }
}

function rulesOff({ task_rules_off }: UsableKey) {
  const known = taskRules.filter((rule) => task_rules_off.includes(rule))
  return known.length === 0 ? {} : { task_rules_off: known }
}

/** Returns whether a stored scope is one of this version. */
export function isKeyScope(scope: string): scope is KeyScope {
  return keyScopes.some((known) => known === scope)
}
