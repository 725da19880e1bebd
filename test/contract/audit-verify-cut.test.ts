import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { publishCheckpoints } from '../../src/capabilities/audit/checkpoints/publish-checkpoints.ts'
import { signCheckpoints } from '../../src/capabilities/audit/checkpoints/sign-checkpoints.ts'
import { openSigningKey } from '../../src/capabilities/audit/checkpoints/signing-key.ts'
import { openBlobSink } from '../../src/capabilities/audit/checkpoints/sink-blobs.ts'
import { verifyStoredChain } from '../../src/capabilities/audit/checkpoints/verify-stored-chain.ts'
import { type CheckpointSource, openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openDirectoryBlobs } from '../../src/platform/blobs/directory-blobs.ts'
import {
  type AccessTables,
  type AuditTables,
  openRelational,
  type Relational,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { runAsOwner } from '../../src/platform/tenancy/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { auditEntry } from '../support/audit-streams.ts'
import { testPostgres } from '../support/postgres.ts'

/** Cuts of a chain with its checkpoints by somebody who can write to the database. */
const chain_id = '00000000-0000-0000-0000-000000000000'
const secret_key = 'a secret of at least 32 characters'
const tables = [
  'audit_records',
  'audit_chains',
  'audit_checkpoints',
  'audit_stream_cursors',
  'audit_keys',
]
let relational: Relational<AccessTables & AuditTables>
let folder: string
let source: CheckpointSource
const db = () => relational.db
const { signal } = new AbortController()

const run = async (statements: string) => {
  for (const statement of statements.split(';')) {
    await runAsOwner('a test', () => sql.raw(statement).execute(db()))
  }
}
const verify = (sources: readonly CheckpointSource[] = [], after?: number) =>
  verifyStoredChain(db(), { chain_id, after, signal, isOver: () => false, sources })
const append = async (count: number) => {
  const trail = openAuditTrail(db())
  for (let at = 0; at < count; at += 1) await trail.append(auditEntry())
}

beforeAll(async () => {
  relational = openRelational({
    scope: allTenants,
    ...{ url: await testPostgres(), pool_max: 3, connect_timeout_ms: 2_000 },
    ...{ statement_timeout_ms: 5_000, logger: createLogger({ role: 'test', level: 'silent' }) },
  })
  folder = await mkdtemp(join(tmpdir(), 'looptrace-sink-'))
  const sink = openBlobSink(openDirectoryBlobs({ directory: folder }))
  source = sink.read
  const key = await openSigningKey(db(), { secret_key, clock: systemClock })
  const now_ms = Date.now()
  for (const hours of [0, 2, 4]) {
    await append(10)
    const now = new Date(now_ms + hours * 3_600_000)
    await signCheckpoints(db(), { key, now })
    await publishCheckpoints(db(), { sinks: [sink.publish], now })
  }
  await append(2)
  await run(`insert into audit_stream_cursors (stream, chain_id, seq, sent_at)
    values ('webhook', '${chain_id}', 31, now())`)
  for (const table of tables) await run(`create table kept_${table} as table ${table}`)
})
afterAll(async () => {
  await relational.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  for (const table of tables) {
    await run(`delete from ${table}; insert into ${table} select * from kept_${table}`)
  }
})

const cut = `delete from audit_records where seq > 10;
  delete from audit_checkpoints where seq > 10`
const setBack = `${cut};
  update audit_chains set seq = 10, hash = (select hash from audit_records where seq = 10)`
const asIfNew = `${setBack}, checkpoint_seq = 10, checkpoint_digest = decode('DIGEST', 'hex')`
const gone = `delete from audit_records; delete from audit_checkpoints; delete from audit_chains`
const noCursor = `delete from audit_stream_cursors`

/** Digest of the first checkpoint, which the row of the chain named at that time. */
async function firstDigest(): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select encode(sha256(decode(envelope::json ->> 'payload', 'base64')), 'hex') as digest
    from audit_checkpoints order by seq limit 1`.execute(db())
  return rows[0]?.digest ?? ''
}

test('an untouched chain is valid, also compared with its sinks and streams', async () => {
  for (const sources of [[], [source]]) {
    expect(await verify(sources)).toMatchObject({
      ...{ faults: [], sinks_compared: sources.length, streams_compared: 1 },
    })
  }
})

test.each<[string, 'row' | 'stream' | 'sink', string]>([
  ['records and checkpoints', 'row', cut],
  ['records and checkpoints, with the head set back', 'row', setBack],
  ['records, checkpoints and the position of the last one', 'stream', asIfNew],
  ['the same, and the position of the stream', 'sink', `${asIfNew}; ${noCursor}`],
  ['the whole chain', 'stream', gone],
  ['the whole chain, and the position of the stream', 'sink', `${gone}; ${noCursor}`],
])('a cut of %s shows by the %s', async (_name, by, attack) => {
  await run(attack.replace('DIGEST', await firstDigest()))
  const alone = await verify()
  if (by === 'sink') expect(alone.faults).toEqual([])
  else expect(alone.faults).not.toEqual([])
  const { faults } = await verify([source])
  expect(faults.map(({ kind }) => kind)).toContain('truncated')
})

test('checkpoints of the store that were replaced with their key contradict the sink', async () => {
  await run(`delete from audit_keys where true; delete from audit_checkpoints;
    update audit_chains set checkpoint_seq = 0, checkpoint_at = null, checkpoint_digest = null`)
  const key = await openSigningKey(db(), { secret_key, clock: systemClock })
  await signCheckpoints(db(), { key, now: new Date(Date.now() + 86_400_000) })
  const { faults } = await verify([source])
  expect(faults.map(({ kind }) => kind)).toContain('checkpoint_conflict')
})

test('a sink that cannot be read is not compared, and is no fault', async () => {
  const away = async () => {
    throw new Error('away')
  }
  expect(await verify([away, source])).toMatchObject({ faults: [], sinks_compared: 1 })
})

test('a record behind the head of the chain is a fault', async () => {
  await run(`insert into audit_records (chain_id, seq, recorded_at, action, outcome, actor_kind, via,
      resource_type, request_id, suppressed, hash)
    select chain_id, seq + 5, recorded_at, 'forged', 'succeeded', 'user', 'api', 'x', 'x', 0, hash
    from audit_records where seq = 32`)
  expect((await verify()).faults.map(({ kind }) => kind)).toEqual(['record_inserted'])
})

test('records and checkpoints that are written during a check are no fault', async () => {
  await append(500)
  let isDone = false
  const key = await openSigningKey(db(), { secret_key, clock: systemClock })
  const writes = async () => {
    for (let day = 1; day <= 40; day += 1) {
      await append(5)
      await signCheckpoints(db(), { key, now: new Date(Date.now() + day * 86_400_000) })
    }
    isDone = true
  }
  const writing = writes()
  let checks = 0
  while (!isDone) {
    expect((await verify([], 0)).faults).toEqual([])
    checks += 1
  }
  await writing
  expect(checks).toBeGreaterThan(3)
})
