import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { emptyHead, linkRecord } from '../../src/capabilities/audit/chain/record.ts'
import { pruneChains } from '../../src/capabilities/audit/checkpoints/prune-chains.ts'
import { publishCheckpoints } from '../../src/capabilities/audit/checkpoints/publish-checkpoints.ts'
import { signCheckpoints } from '../../src/capabilities/audit/checkpoints/sign-checkpoints.ts'
import { openSigningKey } from '../../src/capabilities/audit/checkpoints/signing-key.ts'
import { type BlobSink, openBlobSink } from '../../src/capabilities/audit/checkpoints/sink-blobs.ts'
import { verifyStoredChain } from '../../src/capabilities/audit/checkpoints/verify-stored-chain.ts'
import { toChainRecord } from '../../src/capabilities/audit/events/event.ts'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { sealReads } from '../../src/capabilities/audit/reads/seal-reads.ts'
import { toUnsealed } from '../../src/capabilities/audit/reads/unsealed-reads.ts'
import { toLine, uploadSegment } from '../../src/capabilities/audit/reads/upload-segment.ts'
import { newId } from '../../src/kernel/ids.ts'
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

/**
 * Rows that somebody who can write to the database forges, so that the service itself deletes
 * records, signs, or hides a checkpoint for them. Each test has a chain with a checkpoint after ten
 * and after twenty records, in the store and in a sink.
 */
const chain_id = '00000000-0000-0000-0000-000000000000'
const secret_key = 'a secret of at least 32 characters'
const day_ms = 24 * 3_600_000
let relational: Relational<AccessTables & AuditTables>
let folder: string
let sink: BlobSink
let now_ms: number
const db = () => relational.db
const { signal } = new AbortController()

beforeEach(async () => {
  relational = openRelational({
    scope: allTenants,
    ...{ url: await testPostgres(), pool_max: 3, connect_timeout_ms: 2_000 },
    ...{ statement_timeout_ms: 5_000, logger: createLogger({ role: 'test', level: 'silent' }) },
  })
  folder = await mkdtemp(join(tmpdir(), 'looptrace-forged-'))
  sink = openBlobSink(openDirectoryBlobs({ directory: folder }))
  now_ms = Date.now()
  await run(`truncate audit_records, audit_chains, audit_checkpoints, audit_reads, audit_keys,
    audit_read_batches`)
  for (let at = 0; at < 2; at += 1) {
    await append(10)
    await checkpoint()
  }
})
afterEach(async () => {
  await relational.close()
  await rm(folder, { recursive: true })
})

const run = async (statements: string) => {
  for (const statement of statements.split(';')) {
    await runAsOwner('a test', () => sql.raw(statement).execute(db()))
  }
}
const append = async (count: number) => {
  const trail = openAuditTrail(db())
  for (let at = 0; at < count; at += 1) await trail.append(auditEntry())
}
const signingKey = () => openSigningKey(db(), { secret_key, clock: systemClock })
const publish = () => publishCheckpoints(db(), { sinks: [sink.publish], now: new Date(now_ms) })
const checkpoint = async () => {
  now_ms += 2 * 3_600_000
  await signCheckpoints(db(), { key: await signingKey(), now: new Date(now_ms) })
  await publish()
}
const kindsOf = async (after?: number) => {
  const asked = { chain_id, after, signal, isOver: () => false, sources: [sink.read] }
  return (await verifyStoredChain(db(), asked)).faults.map(({ kind }) => kind)
}
/** Runs retention of a day, an hour after the last checkpoint plus some days. */
const prune = async (days: number) => {
  const at_ms = now_ms + 3_600_000 + days * day_ms
  return pruneChains(db(), {
    ...{ key: await signingKey(), now: new Date(at_ms), before: new Date(at_ms - day_ms) },
    ...{ hasSinks: true, streams: [], signal },
  })
}
const long_ago = `now() - interval '10 years'`
const asIfOld = `update audit_checkpoints set created_at = ${long_ago}, published_at = ${long_ago}`

test('the untouched chain is valid', async () => {
  expect(await kindsOf()).toEqual([])
  expect(await kindsOf(0)).toEqual([])
})

test('retention deletes only records whose checkpoint was signed before the time', async () => {
  await run(asIfOld)
  expect(await prune(0)).toBe(0)
  expect(await kindsOf()).toEqual([])
  expect(await prune(1)).toBe(20)
  expect(await kindsOf()).toEqual([])
})

test.each<[string, string]>([
  [
    'an old checkpoint under the number of another record',
    `update audit_checkpoints set envelope = (
      select envelope from audit_checkpoints where seq = 10) where seq = 20;
      delete from audit_checkpoints where seq = 10`,
  ],
  [
    'a checkpoint of a record that was changed',
    `update audit_records set hash = sha256('another') where seq in (10, 20)`,
  ],
  ['text that is no checkpoint', `update audit_checkpoints set envelope = '{}'`],
])('retention deletes nothing for %s', async (_name, attack) => {
  await run(attack)
  expect(await prune(1)).toBe(0)
})

test('retention takes no checkpoint of a key that the service does not have', async () => {
  const other = await openSigningKey(db(), {
    secret_key: 'another secret of at least 32 characters',
    clock: { now_ms: () => now_ms - 30 * day_ms },
  })
  await run(`delete from audit_checkpoints;
    update audit_chains set checkpoint_seq = 0, checkpoint_at = null, checkpoint_digest = null`)
  await signCheckpoints(db(), { key: other, now: new Date(now_ms - 30 * day_ms) })
  await run(`update audit_checkpoints set published_at = ${long_ago}`)
  expect(await prune(0)).toBe(0)
})

const cut = `delete from audit_records where seq > 10; delete from audit_checkpoints where seq > 10;
  update audit_chains set seq = 10, hash = (select hash from audit_records where seq = 10),
    checkpoint_seq = 10, checkpoint_digest = (
      select sha256(decode(envelope::json ->> 'payload', 'base64'))
      from audit_checkpoints where seq = 10)`

test('an old checkpoint is not published under the name of a newer one, to hide a cut', async () => {
  await run(`insert into audit_checkpoints (chain_id, seq, kind, envelope, created_at)
    select chain_id, 9000000000000000, kind, envelope, created_at
    from audit_checkpoints where seq = 10`)
  await append(1)
  now_ms += 2 * 3_600_000
  await signCheckpoints(db(), { key: await signingKey(), now: new Date(now_ms) })
  await expect(publish()).rejects.toThrow(
    'the stored checkpoint head of record 9000000000000000 in the audit chain',
  )
  await run(cut)
  expect(await kindsOf()).toContain('truncated')
})

test('a chain that was rewritten and signed by the service again contradicts the sink', async () => {
  const records = await db().selectFrom('audit_records').selectAll().orderBy('seq').execute()
  let head = emptyHead
  for (const row of records) {
    const { seq, hash } = linkRecord({ ...toChainRecord(row), actor_id: 'eve' }, head)
    head = { seq, hash }
    await run(`update audit_records set actor_id = 'eve', hash = decode('${hash}', 'hex')
      where seq = ${seq}`)
  }
  await run(`delete from audit_checkpoints; update audit_chains
    set hash = decode('${head.hash}', 'hex'),
      checkpoint_seq = 0, checkpoint_digest = null, checkpoint_at = null`)
  await append(1)
  await checkpoint()
  expect(await kindsOf()).toContain('rewritten')
})

test('a sink with very many checkpoints is read in parts, always with the newest', async () => {
  const blobs = openDirectoryBlobs({ directory: folder })
  const names = Array.from({ length: 1_010 }, (_, at) => String(100 + at).padStart(16, '0'))
  for (const name of names) await blobs.put(`${chain_id}/${name}-head.json`, [Buffer.from(name)])
  const read = (from: number) => sink.read(chain_id, { from, signal })
  const numbers = ({ envelopes }: { envelopes: string[] }) => envelopes.map(Number)
  const first = await read(100)
  expect(numbers(first)).toEqual([...Array.from({ length: 1_000 }, (_, at) => 100 + at), 1_109])
  expect(first.end).toBe(1_099)
  const rest = await read(first.end + 1)
  expect(numbers(rest)).toEqual(Array.from({ length: 10 }, (_, at) => 1_100 + at))
  expect(rest.end).toBe(Number.MAX_SAFE_INTEGER)
  expect(numbers(await read(5_000))).toEqual([1_109])
})

test('reads that no record seals, and another origin of a read, are found', async () => {
  const entry = auditEntry({
    action: 'getTask',
    origin: { address: '192.0.2.1', user_agent: null },
  })
  await uploadSegment(db(), { id: newId(), text: toLine(chain_id, toUnsealed(entry)) })
  await sealReads(db(), systemClock)
  await append(1)
  expect(await kindsOf()).toEqual([])
  const forge = (seq: string) => `insert into audit_reads
    select gen_random_uuid(), chain_id, read_at, action, actor_kind, 'eve', via, resource_type,
      resource_id, project_id, request_id, origin_hash, origin_salt, origin_value, ${seq}
    from audit_reads limit 1`
  for (const seq of ['20', '22', 'null']) {
    await run(forge(seq))
    expect([seq, await kindsOf()]).toEqual([seq, ['record_inserted']])
    await run(`delete from audit_reads where actor_id = 'eve'`)
  }
  await run(`update audit_reads set origin_value = replace(origin_value, '192', '198')`)
  expect(await kindsOf()).toEqual(['record_changed'])
})

test('after retention, a check from the first record on finds no fault', async () => {
  await append(5)
  await checkpoint()
  expect(await prune(1)).toBe(25)
  await append(3)
  for (const after of [undefined, 0, 25]) expect([after, await kindsOf(after)]).toEqual([after, []])
})
