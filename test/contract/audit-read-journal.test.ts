import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openReadJournal, type ReadJournal } from '../../src/capabilities/audit/index.ts'
import { sealReads } from '../../src/capabilities/audit/reads/seal-reads.ts'
import { toUnsealed } from '../../src/capabilities/audit/reads/unsealed-reads.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { lockFolder } from '../../src/platform/folders/index.ts'
import {
  type AccessTables,
  type AuditTables,
  openRelational,
  type Relational,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics, type Metrics } from '../../src/platform/telemetry/index.ts'
import { runAsOwner } from '../../src/platform/tenancy/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { auditEntry } from '../support/audit-streams.ts'
import { eventually } from '../support/eventually.ts'
import { testPostgres } from '../support/postgres.ts'
import { mountTinyDisk, noTinyDisk } from '../support/tiny-disk.ts'

type Db = Relational<AccessTables & AuditTables>

const logger = createLogger({ role: 'test', level: 'silent' })
const chain = newId()
let relational: Db
let folder: string
let metrics: Metrics

beforeAll(async () => {
  relational = open(await testPostgres())
})
afterAll(() => relational.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-audit-journal-'))
  await runAsOwner('a test', () =>
    sql`truncate audit_records, audit_chains, audit_reads, audit_read_batches`.execute(
      relational.db,
    ),
  )
  return () => rm(folder, { recursive: true })
})

const renameTable = (statement: ReturnType<typeof sql>) =>
  runAsOwner('a test', () => statement.execute(relational.db))

function open(address: string): Db {
  const limits = { pool_max: 2, connect_timeout_ms: 500, statement_timeout_ms: 2_000 }
  return openRelational({ scope: allTenants, url: address, ...limits, logger })
}

/** Opens a journal as a process does; `metrics` are those of the last one. */
function journalOf({ db }: Db, reads_max = 10_000, at = folder): Promise<ReadJournal> {
  metrics = createMetrics()
  return openReadJournal({ db, folder: at, logger, metrics, reads_max })
}

/** A database that no server answers for. */
async function withoutStore(work: (away: Db) => Promise<void>): Promise<void> {
  const away = open('postgres://nobody@127.0.0.1:1/none')
  await work(away)
  await away.close()
}

function append(journal: ReadJournal, count: number, chain_id = chain): string[] {
  return Array.from({ length: count }, () => {
    const read = toUnsealed(auditEntry({ request_id: newId() }))
    journal.append(chain_id, read)
    return read.request_id
  })
}

/** Seals all reads, and returns their request ids. */
async function sealed(): Promise<string[]> {
  while ((await sealReads(relational.db, systemClock)) > 0);
  const rows = await relational.db.selectFrom('audit_reads').select('request_id').execute()
  return rows.map(({ request_id }) => request_id).toSorted()
}

/** The files of segments in the folders of all processes. */
const files = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ndjson'))
    .map((name) => join(folder, name))
const waiting = async () =>
  Number(/looptrace_audit_reads_waiting (\d+)/.exec((await metrics.expose()).body)?.[1])

test('reads of many chains reach the store within a second, and leave no file', async () => {
  const journal = await journalOf(relational)
  const chains = Array.from({ length: 20 }, newId)
  const written = chains.flatMap((chain_id) => append(journal, 60, chain_id))
  expect(await waiting()).toBe(1_200)
  await eventually('the reads are uploaded', async () => (await waiting()) === 0, {
    timeout_ms: 5_000,
  })
  expect(files()).toEqual([])
  expect(await sealed()).toEqual(written.toSorted())
  await journal.close()
  expect(readdirSync(folder)).toEqual([])
})

test('a read is in the file when append returns, and a clean stop stores it', async () => {
  const journal = await journalOf(relational)
  const written = append(journal, 3)
  expect(files()).toHaveLength(1)
  await journal.close()
  expect(await sealed()).toEqual(written.toSorted())
})

test('an upload that is repeated stores nothing twice, before and after the seal', async () => {
  const journal = await journalOf(relational)
  const written = append(journal, 5)
  const [file = ''] = files()
  const copies = [join(folder, 'kept-1'), join(folder, 'kept-2')]
  for (const copy of copies) copyFileSync(file, copy)
  await journal.close()
  // As after kills between the commit and the removal of the file.
  for (const copy of copies) {
    const killed = join(folder, newId())
    mkdirSync(killed)
    renameSync(copy, join(killed, file.split('/').at(-1) ?? ''))
    const next = await journalOf(relational)
    await next.close()
    const rows = await relational.db.selectFrom('audit_read_batches').select('id').execute()
    expect(rows).toHaveLength(1)
    expect(await sealed()).toEqual(written.toSorted())
  }
  const { rows } = await sql<{ total: string }>`
    select sum(segment_count) as total from audit_records`.execute(relational.db)
  expect(Number(rows[0]?.total)).toBe(5)
})

test('a torn last line is dropped, and so is a damaged one', async () => {
  await withoutStore(async (away) => {
    const killed = await journalOf(away)
    append(killed, 2)
    const [file = ''] = files()
    appendFileSync(file, '\0\0\0\n["')
    await killed.close()
  })
  const journal = await journalOf(relational)
  await journal.flush()
  expect(await sealed()).toHaveLength(2)
  expect(files()).toEqual([])
  await journal.close()
})

test('a full journal refuses reads until PostgreSQL is back, and loses none', async () => {
  let written: string[] = []
  await withoutStore(async (away) => {
    const journal = await journalOf(away, 700)
    written = append(journal, 700)
    await expect(journal.flush()).rejects.toThrow()
    const refused = { code: 'store_unavailable', status: 503 }
    expect(() => append(journal, 1)).toThrow(expect.objectContaining(refused))
    expect(await waiting()).toBe(700)
    await journal.close()
  })
  const journal = await journalOf(relational)
  expect(await waiting()).toBe(700)
  await eventually('the reads are uploaded', async () => (await waiting()) === 0)
  expect(await sealed()).toEqual(written.toSorted())
  append(journal, 1)
  await journal.close()
})

test('an outage of the store keeps reads in order, and they arrive after it', async () => {
  const journal = await journalOf(relational)
  await renameTable(sql`alter table audit_read_batches rename to batches_away`)
  const written = append(journal, 1_100)
  await expect(journal.flush()).rejects.toThrow()
  expect(files().length).toBeGreaterThan(1)
  await renameTable(sql`alter table batches_away rename to audit_read_batches`)
  await eventually('the reads are uploaded', async () => (await waiting()) === 0)
  expect(await sealed()).toEqual(written.toSorted())
  await journal.close()
})

test('a process does not take the files of a running one, but those of an ended one', async () => {
  const first = await journalOf(relational)
  const [read] = append(first, 1)
  await withoutStore(async (away) => {
    const second = await journalOf(away)
    const before = files()
    expect(before).toHaveLength(1)
    await second.close()
    expect(files()).toEqual(before)
  })
  await first.close()
  expect(await sealed()).toEqual([read])
})

test('a full disk refuses reads and cuts a line, loses none, and takes reads after the upload', async ({
  skip,
}) => {
  await using disk = await mountTinyDisk(64)
  if (disk === undefined) return skip(noTinyDisk)
  const written: string[] = []
  const appendUntilRefused = (journal: ReadJournal) => {
    for (let count = 0; count < 1_000; count++) written.push(...append(journal, 1))
  }
  const refused = expect.objectContaining({
    ...{ code: 'store_unavailable', status: 503 },
    message: expect.stringContaining('the disk does not take them'),
  })
  await withoutStore(async (away) => {
    const journal = await journalOf(away, 10_000, disk.folder)
    expect(() => appendUntilRefused(journal)).toThrow(refused)
    expect(() => append(journal, 1)).toThrow(refused)
    expect(await waiting()).toBe(written.length)
    await journal.close()
  })
  const names = readdirSync(disk.folder, { recursive: true, encoding: 'utf8' })
  const segments = names.filter((name) => name.endsWith('.ndjson'))
  const texts = segments.map((name) => readFileSync(join(disk.folder, name), 'utf8'))
  expect(texts.filter((text) => !text.endsWith('\n'))).toHaveLength(1)
  expect(written.length).toBeGreaterThan(50)

  const journal = await journalOf(relational, 10_000, disk.folder)
  await journal.flush()
  written.push(...append(journal, 10))
  await journal.close()
  expect(await sealed()).toEqual(written.toSorted())
})

test('a folder that a killed process did not name is removed, and not one that is starting', async () => {
  const [killed = '', locked = '', young = ''] = [newId(), newId(), newId()].map((id) =>
    join(folder, `.${id}`),
  )
  for (const made of [killed, locked, young]) mkdirSync(made)
  const unlock = lockFolder(locked)
  const longAgo = new Date(Date.now() - 3_600_000)
  for (const made of [killed, locked]) utimesSync(made, longAgo, longAgo)
  const journal = await journalOf(relational)
  expect([killed, locked, young].map((made) => existsSync(made))).toEqual([false, true, true])
  unlock()
  await journal.close()
})
