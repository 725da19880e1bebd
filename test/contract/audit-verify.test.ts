import { afterAll, beforeAll, expect, test } from 'vitest'
import { signCheckpoints } from '../../src/capabilities/audit/checkpoints/sign-checkpoints.ts'
import { openSigningKey } from '../../src/capabilities/audit/checkpoints/signing-key.ts'
import { verifyStoredChain } from '../../src/capabilities/audit/checkpoints/verify-stored-chain.ts'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import {
  type AccessTables,
  type AuditTables,
  openRelational,
  type Relational,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { auditEntry } from '../support/audit-streams.ts'
import { testPostgres } from '../support/postgres.ts'

/** The check of a stored chain in parts. */
const chain_id = '00000000-0000-0000-0000-000000000000'
let relational: Relational<AccessTables & AuditTables>
const db = () => relational.db

beforeAll(async () => {
  relational = openRelational({
    scope: allTenants,
    ...{ url: await testPostgres(), pool_max: 3, connect_timeout_ms: 2_000 },
    ...{ statement_timeout_ms: 5_000, logger: createLogger({ role: 'test', level: 'silent' }) },
  })
  const trail = openAuditTrail(db())
  for (let at = 0; at < 450; at += 1) await trail.append(auditEntry())
  const secret_key = 'a secret of at least 32 characters'
  const key = await openSigningKey(db(), { secret_key, clock: systemClock })
  await signCheckpoints(db(), { key, now: new Date() })
})
afterAll(() => relational.close())

const { signal } = new AbortController()

/** Checks the whole chain in calls that each have time for one page. */
async function checkInParts() {
  const reports = []
  for (let after: number | null = 0; after !== null; ) {
    const isOver = () => true
    const report = await verifyStoredChain(db(), { chain_id, after, signal, isOver })
    reports.push(report)
    after = report.next_after
  }
  return reports
}

test('a check that reaches its time limit reports the checked part, and continues from there', async () => {
  const reports = await checkInParts()
  expect(reports.map(({ from_seq, head, next_after }) => [from_seq, head.seq, next_after])).toEqual(
    [
      [1, 200, 200],
      [201, 400, 400],
      [401, 450, null],
    ],
  )
  expect(reports.flatMap(({ faults }) => faults)).toEqual([])
})

test('each part shows its faults, and the last one a missing end', async () => {
  await sql`update audit_records set actor_id = 'x' where seq = 250`.execute(db())
  const edited = await checkInParts()
  expect(edited.map(({ faults }) => faults.map(({ kind, seq }) => [kind, seq]))).toEqual([
    [],
    [['record_changed', 250]],
    [],
  ])
  await sql`delete from audit_records where seq > 440`.execute(db())
  const cut = await checkInParts()
  expect(cut.map(({ faults }) => faults.map(({ kind }) => kind))).toEqual([
    [],
    ['record_changed'],
    ['truncated', 'truncated'],
  ])
})

test('a check ends when its caller leaves', async () => {
  const left = AbortSignal.abort(new Error('left'))
  const check = verifyStoredChain(db(), {
    ...{ chain_id, after: 0, signal: left, isOver: () => false },
  })
  await expect(check).rejects.toThrow('left')
})
