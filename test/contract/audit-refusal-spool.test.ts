import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openAuditTrail, openRefusalSpool } from '../../src/capabilities/audit/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { openSqliteQueue, type Queue } from '../../src/platform/queue/index.ts'
import {
  type AccessTables,
  type AuditTables,
  openRelational,
  type Relational,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { runAsOwner } from '../../src/platform/tenancy/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { auditEntry } from '../support/audit-streams.ts'
import { eventually } from '../support/eventually.ts'
import { testPostgres } from '../support/postgres.ts'

type Db = Relational<AccessTables & AuditTables>

const logger = createLogger({ role: 'test', level: 'silent' })
let url: string
let relational: Db
let folder: string
let path: string

beforeAll(async () => {
  url = await testPostgres()
  relational = open(url)
  folder = await mkdtemp(join(tmpdir(), 'looptrace-audit-spool-'))
})
afterAll(async () => {
  await relational.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  path = join(folder, `${newId()}.sqlite`)
  await runAsOwner('a test', () =>
    sql`truncate audit_records, audit_chains, organizations cascade`.execute(relational.db),
  )
})

function open(address: string): Db {
  const limits = { pool_max: 2, connect_timeout_ms: 500, statement_timeout_ms: 2_000 }
  return openRelational({
    scope: allTenants,
    url: address,
    ...limits,
    logger,
  })
}

/** An address on which no database answers. */
const unavailable = 'postgres://nobody@127.0.0.1:1/none'

async function withSpool<T>(
  address: string,
  work: (spool: Awaited<ReturnType<typeof openRefusalSpool>>, queue: Queue) => Promise<T>,
  entries_max?: number,
): Promise<T> {
  const store = open(address)
  const queue = await openSqliteQueue({ path, bytes_max: 1_048_576, logger })
  const { db } = store
  const spool = await openRefusalSpool({
    ...{ db, trail: openAuditTrail(db), queue, metrics: createMetrics() },
    ...(entries_max !== undefined && { entries_max }),
  })
  try {
    return await work(spool, queue)
  } finally {
    await spool.stop()
    await queue.close()
    await store.close()
  }
}

const stored = () => relational.db.selectFrom('audit_records').selectAll().orderBy('seq').execute()
const untilStored = (count: number) =>
  eventually('the records are written', async () => (await stored()).length >= count)

test('kept calls get their records later, with their own time and organization', async () => {
  const organization_id = newId()
  const project_id = newId()
  const { db } = relational
  await db.insertInto('organizations').values({ id: organization_id, name: 'a' }).execute()
  await db.insertInto('projects').values({ id: project_id, organization_id, name: 'p' }).execute()
  const recorded_at = '2026-03-01T10:00:00.123Z'
  const refused = { outcome: 'refused', code: 'permission_denied', recorded_at } as const
  await withSpool(unavailable, async (spool) => {
    await spool.keep(auditEntry({ ...refused, project_id }))
    await spool.keep(auditEntry({ ...refused, change: { after: { text: 'x'.repeat(50_000) } } }))
  })
  expect(await stored()).toEqual([])
  await withSpool(url, () => untilStored(2))
  const records = await stored()
  const own = records.find((record) => record.project_id !== null)
  const other = records.find((record) => record.project_id === null)
  expect(own).toMatchObject({ chain_id: organization_id, recorded_at, code: 'permission_denied' })
  expect(JSON.parse(other?.change_value ?? '')).toMatchObject({
    after: { too_long: expect.any(Number) },
  })
  await withSpool(url, async () => undefined)
  expect(await stored()).toHaveLength(2)
})

test('a call whose record was written before the kill is not written again', async () => {
  const entry = auditEntry({ outcome: 'refused' })
  await openAuditTrail(relational.db).append(entry)
  await withSpool(unavailable, (spool) => spool.keep(entry))
  const next = auditEntry({ outcome: 'refused' })
  await withSpool(url, async (spool, queue) => {
    await spool.keep(next)
    await eventually('the spool is empty', async () => (await queue.stats()).pending === 0)
  })
  expect((await stored()).map(({ request_id }) => request_id)).toEqual([
    entry.request_id,
    next.request_id,
  ])
})

test('a full spool refuses further calls, which are then only counted', async () => {
  await withSpool(
    unavailable,
    async (spool) => {
      await spool.keep(auditEntry())
      await spool.keep(auditEntry())
      await expect(spool.keep(auditEntry())).rejects.toMatchObject({ reason: 'full' })
    },
    2,
  )
  await withSpool(url, () => untilStored(2))
  expect(await stored()).toHaveLength(2)
})
