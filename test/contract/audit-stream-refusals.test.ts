import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { selectSetAside } from '../../src/capabilities/audit/stream/refusals.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AccessTables,
  type AuditTables,
  openRelational,
  type Relational,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics, type Metrics } from '../../src/platform/telemetry/index.ts'
import { runAsOwner } from '../../src/platform/tenancy/index.ts'
import { openAuditStreams } from '../../src/roles/audit-streams.ts'
import type { Stores } from '../../src/roles/stores.ts'
import { allTenants } from '../support/all-tenants.ts'
import {
  attributesIn,
  auditEntry,
  logsIn,
  streamConfig,
  streamLimits,
} from '../support/audit-streams.ts'
import { testPostgres } from '../support/postgres.ts'
import { type Received, type Receiver, startReceiver, status } from '../support/receiver.ts'
import { budget, quarterOf } from '../support/suite/budget.ts'

/** Receivers that refuse single records, and receivers that refuse everything. */

let relational: Relational<AccessTables & AuditTables>
let receiver: Receiver
let metrics: Metrics
const clock = { ahead_ms: 0, now_ms: () => Date.now() + clock.ahead_ms }
const logged: { fields: Record<string, unknown>; text: string }[] = []

beforeAll(async () => {
  relational = openRelational({
    scope: allTenants,
    ...{ url: await testPostgres(), pool_max: 4 },
    ...{ connect_timeout_ms: 2_000, statement_timeout_ms: 10_000 },
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
})
afterAll(() => relational.close())
beforeEach(async () => {
  await runAsOwner('a test', () =>
    sql`truncate audit_records, audit_chains, audit_streams, audit_stream_cursors,
      audit_stream_refusals, organizations cascade`.execute(relational.db),
  )
  receiver = await startReceiver()
  clock.ahead_ms = 0
  logged.length = 0
})
afterEach(() => receiver.close())

/** Opens a stream as the worker does. The result runs its passes, a minute apart. */
function open(kind: 'webhook' | 'otlp' = 'webhook'): (passes: number) => Promise<void> {
  metrics = createMetrics()
  const log = (fields: never, text: string) => void logged.push({ fields, text })
  const logger = { debug: log, info: log, warn: log, error: log } as never
  const config = streamConfig({
    ...(kind === 'webhook' && { audit_stream_webhook_url: `${receiver.url}/hook` }),
    ...(kind === 'otlp' && { audit_stream_otlp_url: `${receiver.url}/v1/logs` }),
    outbound_allowed: `127.0.0.0/8:${receiver.port}`,
  })
  const stores = { db: relational.db as unknown as Stores['db'], limits: streamLimits }
  const { chores } = openAuditStreams({ clock, logger, metrics }, config, stores)
  return async (passes) => {
    for (let pass = 0; pass < passes; pass += 1) {
      for (const chore of chores) await chore.run(new AbortController().signal)
      clock.ahead_ms += 61_000
    }
  }
}

async function append(count: number, organization_id: string | null = null): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await openAuditTrail(relational.db).append(auditEntry({ organization_id }))
  }
}

type Key = { chain_id: string; seq: number }

/** Chain and number of the records in a request, of both formats. */
function keysIn({ path, body, bytes }: Received): Key[] {
  if (path !== '/v1/logs') return JSON.parse(body).data.records
  return logsIn(bytes)
    .map(attributesIn)
    .map((attributes) => ({
      chain_id: String(attributes['looptrace.audit.chain_id']),
      seq: Number(attributes['looptrace.audit.seq']),
    }))
}

/** Numbers of the accepted records of a chain, in their order. */
const accepted: Key[] = []
beforeEach(() => void accepted.splice(0))

/** Refuses the requests that `refuses` says, and notes the accepted records. */
function refuse(code: number, refuses: (keys: Key[]) => boolean): void {
  receiver.answer = (response, request) => {
    const keys = keysIn(request)
    if (refuses(keys)) return response.writeHead(code).end()
    accepted.push(...keys)
    return response.end()
  }
}

const numbers = () => [...new Set(accepted.map(({ seq }) => seq))].sort((a, b) => a - b)
const listed = async (chain_id: string, stream = 'webhook') =>
  (await selectSetAside(relational.db, { chain_id, before: undefined, limit: 100 })).filter(
    (one) => one.stream === stream,
  )
const count = async (stream = 'webhook') => {
  const name = `looptrace_audit_stream_set_aside_records_total{stream="${stream}"} `
  const { body } = await metrics.expose()
  const line = body.split('\n').find((one) => one.startsWith(name))
  return Number(line?.slice(name.length) ?? 0)
}
const setAsideLogs = () => logged.filter(({ text }) => text.includes('goes on without it'))
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

describe('one record that the receiver refuses in each form', () => {
  const refusals = [
    ['webhook', 400],
    ['webhook', 403],
    ['webhook', 406],
    ['webhook', 422],
    ['otlp', 400],
    ['otlp', 413],
  ] as const
  test.each(quarterOf(refusals))(
    'is set aside by a %s that answers %i, and the stream goes on',
    async (kind, code) => {
      const chain = newId()
      await append(30, chain)
      refuse(code, (keys) => keys.some(({ seq }) => seq === 7))
      await open(kind)(25)
      expect(numbers()).toEqual(range(1, 30).filter((seq) => seq !== 7))
      expect(await listed(chain, kind)).toEqual([
        { stream: kind, seq: 7, status: code, attempts: 8, set_aside_at: expect.any(String) },
      ])
      expect(await count(kind)).toBe(1)
      expect(setAsideLogs()).toMatchObject([{ fields: { chain_id: chain, seq: 7, status: code } }])
      const kept = relational.db.selectFrom('audit_records').select('seq').where('seq', '=', 7)
      expect(await kept.execute()).toHaveLength(1)
    },
  )

  test('is not set aside before eight refusals, and not listed', async () => {
    const chain = newId()
    await append(3, chain)
    refuse(400, (keys) => keys.some(({ seq }) => seq === 2))
    await open()(7)
    expect([await listed(chain), numbers()]).toEqual([[], [1]])
  })

  test('is set aside also if it is the first of the stream', async () => {
    const chain = newId()
    await append(3, chain)
    refuse(400, (keys) => keys.some(({ seq }) => seq === 1))
    await open()(12)
    expect([numbers(), await count()]).toEqual([[2, 3], 1])
  })

  test('keeps the details of the records after it', async () => {
    const chain = newId()
    await append(2, chain)
    const change = { after: { name: 'complete' } }
    await openAuditTrail(relational.db).append(auditEntry({ organization_id: chain, change }))
    refuse(400, (keys) => keys.some(({ seq }) => seq === 2))
    await open()(12)
    expect(accepted).toContainEqual(expect.objectContaining({ seq: 3, change }))
  })

  test('is sent if the receiver accepts it after all', async () => {
    const chain = newId()
    await append(3, chain)
    let refusals = 0
    refuse(400, (keys) => {
      if (!keys.some(({ seq }) => seq === 2) || refusals > 12) return false
      refusals += 1
      return true
    })
    await open()(20)
    expect([numbers(), await count()]).toEqual([[1, 2, 3], 0])
    const refused = relational.db.selectFrom('audit_stream_refusals').selectAll()
    expect(await refused.execute()).toEqual([])
  })

  test('is not listed for another chain', async () => {
    const [chain, other] = [newId(), newId()]
    await append(3, chain)
    await append(3, other)
    refuse(400, (keys) => keys.some((key) => key.chain_id === chain && key.seq === 2))
    await open()(20)
    expect([(await listed(chain)).length, (await listed(other)).length]).toEqual([1, 0])
  })
})

describe('a receiver that refuses everything', () => {
  const codes = [400, 401, 403, 404, 413, 422]
  test.each(quarterOf(codes))('with %i gets all records later: none is set aside', async (code) => {
    const chain = newId()
    await append(3, chain)
    const run = open()
    refuse(code, () => false)
    await run(1)
    await append(30, chain)
    refuse(code, () => true)
    await run(40)
    expect(await count()).toBe(0)
    refuse(code, () => false)
    await run(3)
    expect(numbers()).toEqual(range(1, 33))
  })

  test('and is well again just when another record is tried, gets the record', async () => {
    const chain = newId()
    await append(1, chain)
    const run = open()
    refuse(400, () => false)
    await run(1)
    await append(5, chain)
    let isWell = false
    refuse(400, (keys) => {
      isWell ||= keys.some(({ seq }) => seq === 1)
      return !isWell
    })
    await run(20)
    expect([numbers(), await count()]).toEqual([range(1, 6), 0])
  })

  const passes = budget({ test: 150, soak: 400 })

  test('but accepts old records, loses at most ten', async () => {
    const chain = newId()
    await append(1, chain)
    const run = open()
    refuse(400, () => false)
    await run(1)
    await append(40, chain)
    refuse(400, (keys) => keys.some(({ seq }) => seq > 1))
    await run(passes)
    expect(await count()).toBe(10)
    refuse(400, () => false)
    await run(3)
    expect(numbers()).toEqual([1, ...range(12, 41)])
  }, 60_000)
})

test('an outage of the receiver is no refusal of a record', async () => {
  await append(3, newId())
  const run = open()
  for (const code of [408, 425, 429, 500, 503]) {
    receiver.answer = status(code)
    await run(12)
  }
  expect(await count()).toBe(0)
  const refused = relational.db.selectFrom('audit_stream_refusals').selectAll()
  expect(await refused.execute()).toEqual([])
})
