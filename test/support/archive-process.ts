/**
 * A process that does archive and restore runs until it is killed. It gets its stores as JSON, and
 * prints each step before it does the step.
 */

import {
  archiveHandler,
  defaultArchiveSettings,
  openArchiveStore,
  openRestoredStore,
  restoreHandler,
} from '../../src/capabilities/lifecycle/archive/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { type Blobs, type BlobsOptions, openBlobs } from '../../src/platform/blobs/index.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import { openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import type { ArchiveTestTables } from './archives.ts'
import type { TestDatabase } from './clickhouse-broker.ts'
import { startWorker } from './job-workers.ts'

/** Input of the process. */
export type ArchiveProcessOptions = {
  postgres_url: string
  clickhouse: TestDatabase
  blobs: BlobsOptions
  file_rows_max: number
}

const options: ArchiveProcessOptions = JSON.parse(process.argv[2] ?? '')
const logger = createLogger({ role: 'test', level: 'silent' })
const { db } = openRelational<ArchiveTestTables>({
  scope: allTenants,
  url: options.postgres_url,
  pool_max: 4,
  connect_timeout_ms: 2_000,
  statement_timeout_ms: 5_000,
  logger,
})
const columnar = openColumnar({
  ...options.clickhouse,
  request_timeout_ms: 30_000,
  connections_max: 4,
  compression: false,
  logger,
})
const store = openArchiveStore({ columnar })
const restored = openRestoredStore({ columnar })
const blobs = openBlobs(options.blobs)

const counts = new Map<string, number>()
/** Prints `<step> <count so far>`, and lets the reader act before the step is done. */
async function say(step: string): Promise<void> {
  const count = (counts.get(step) ?? 0) + 1
  counts.set(step, count)
  process.stdout.write(`${step} ${count}\n`)
  await new Promise((resolve) => setTimeout(resolve, 15))
}

const slowBlobs: Blobs = {
  ...blobs,
  put: async (name, content, about) => {
    await say(name.endsWith('manifest.json') ? 'manifest' : 'put')
    const stored = await blobs.put(name, content, about)
    await say('stored')
    return stored
  },
  get: async (name, about) => {
    await say('get')
    return blobs.get(name, about)
  },
}
const about = {
  db,
  blobs: slowBlobs,
  clock: systemClock,
  settings: { ...defaultArchiveSettings, settle_ms: 0, file_rows_max: options.file_rows_max },
}

startWorker(db, [
  archiveHandler({ ...about, store }),
  restoreHandler({
    ...about,
    restored: {
      ...restored,
      insertFile: async (file) => {
        await say('insert')
        await restored.insertFile(file)
        await say('inserted')
      },
      sums: async (asked) => {
        await say('compare')
        return restored.sums(asked)
      },
    },
    erasedUsers: async () => ({
      ...{ version: 0, isCurrent: async () => true, isErased: () => false },
      erasedTraces: async () => [],
    }),
  }),
])
process.stdout.write('ready 1\n')
