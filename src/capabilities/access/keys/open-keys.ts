import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { runInInstallation } from '../../../platform/tenancy/index.ts'
import { createKeyCache, type KeyCache, type KeyCacheLimits } from './key-cache.ts'
import { createKeyUsage } from './key-usage.ts'
import { keyPrefix } from './project-key.ts'
import { readKey, writeKeyUses } from './usable-keys-store.ts'

/** Opens the cache of project keys. It is all of sign-in that a proxy loads. */
export function openKeys(options: {
  db: Kysely<AccessTables>
  clock: Clock
  limits?: Partial<KeyCacheLimits>
}): { keys: KeyCache; close(): Promise<void> } {
  const { db, clock, limits } = options
  const usage = createKeyUsage({
    write: (uses) => runInInstallation('keys of all projects', () => writeKeyUses(db, uses)),
    clock,
  })
  const keys = createKeyCache({
    ...limits,
    load: (prefix) => runInInstallation('look-up of a key', () => readKey(db, prefix)),
    prefixOf: keyPrefix,
    clock,
    onUsed: usage.touch,
  })
  return { keys, close: usage.close }
}
