import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  migrateRelational,
  openRelational,
  type Relational,
  startEmbeddedPostgres,
} from '../src/platform/relational/index.ts'
import { createLogger } from '../src/platform/telemetry/index.ts'
import { allTenants } from '../test/support/all-tenants.ts'

/**
 * Starts PostgreSQL in a folder of its own, with all tables and these settings of the server; `parts`
 * ends and removes it.
 */
export async function startRelational<Tables>(
  parts: AsyncDisposableStack,
  settings: Readonly<Record<string, string>> = {},
): Promise<Relational<Tables>> {
  const logger = createLogger({ role: 'bench', level: 'error' })
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-'))
  // Under root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = await startEmbeddedPostgres({
    ...{ directory: join(directory, 'postgres'), settings, logger },
  })
  parts.defer(() => postgres.stop())
  const relational = openRelational<Tables>({
    scope: allTenants,
    url: postgres.url,
    pool_max: 4,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 60_000,
    logger,
  })
  parts.defer(() => relational.close())
  await migrateRelational({ url: postgres.url, logger })
  return relational
}
