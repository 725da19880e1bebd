import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { erasePerson } from '../../src/capabilities/audit/erase-person.ts'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { sealReads } from '../../src/capabilities/audit/reads/seal-reads.ts'
import { toUnsealed } from '../../src/capabilities/audit/reads/unsealed-reads.ts'
import { toLine, uploadSegment } from '../../src/capabilities/audit/reads/upload-segment.ts'
import { chainOf } from '../../src/capabilities/audit/trail/chain-id.ts'
import { newId } from '../../src/kernel/ids.ts'
import { sleep, systemClock } from '../../src/kernel/time.ts'
import type { AuditEntry } from '../../src/model/audit-entry.ts'
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
  closedPort,
  logsIn,
  streamConfig,
  streamLimits,
  streamSecret,
} from '../support/audit-streams.ts'
import { eventually } from '../support/eventually.ts'
import { killableProcesses } from '../support/killable-processes.ts'
import { killsOfRun } from '../support/kills-of-run.ts'
import { otlpMessage } from '../support/otlp-messages.ts'
import { testPostgres } from '../support/postgres.ts'
import { type Received, type Receiver, startReceiver, status } from '../support/receiver.ts'

type Settings = Parameters<typeof streamConfig>[0]

let url: string
let relational: Relational<AccessTables & AuditTables>
let receiver: Receiver
let metrics: Metrics
const clock = { ahead_ms: 0, now_ms: () => Date.now() + clock.ahead_ms }
const logged: string[] = []
const workers = killableProcesses(new URL('../support/audit-stream-process.ts', import.meta.url))

beforeAll(async () => {
  url = await testPostgres()
  relational = openRelational({
    scope: allTenants,
    ...{ url, pool_max: 6, connect_timeout_ms: 2_000, statement_timeout_ms: 10_000 },
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
})
afterAll(async () => {
  await workers.killAll()
  await relational.close()
})
beforeEach(async () => {
  await runAsOwner('a test', () =>
    sql`truncate audit_records, audit_chains, audit_reads, audit_read_batches, audit_streams,
      audit_stream_cursors, audit_stream_refusals, organizations cascade`.execute(db()),
  )
  receiver = await startReceiver()
  clock.ahead_ms = 0
  logged.length = 0
})
afterEach(() => receiver.close())

const db = () => relational.db
const trail = () => openAuditTrail(db())
const storeRead = (entry: AuditEntry) => {
  const read = toUnsealed(entry)
  const text = toLine(chainOf(entry.organization_id), read)
  return uploadSegment(db(), { id: newId(), text })
}
const webhook = () => ({ audit_stream_webhook_url: `${receiver.url}/hook?token=in-the-url` })
const otlp = () => ({ audit_stream_otlp_url: `${receiver.url}/v1/logs` })
const allowed = () => ({ outbound_allowed: `127.0.0.0/8:${receiver.port}` })

/** Opens streams as the worker does. The result runs one pass of each. */
function open(settings: Settings, limits: object = {}): () => Promise<void> {
  metrics = createMetrics()
  const log = (fields: object, text: string) => void logged.push(JSON.stringify([fields, text]))
  const logger = { debug: log, info: log, warn: log, error: log } as never
  const config = streamConfig({ ...allowed(), ...settings })
  const stores = {
    db: db() as unknown as Stores['db'],
    limits: { ...streamLimits, ...limits },
  }
  const { chores } = openAuditStreams({ clock, logger, metrics }, config, stores)
  const { signal } = new AbortController()
  return async () => {
    for (const chore of chores) await chore.run(signal)
  }
}

async function append(count: number, organization_id: string | null = null): Promise<void> {
  for (let at = 0; at < count; at += 1) await trail().append(auditEntry({ organization_id }))
}

const recordsIn = ({ body }: Received) => JSON.parse(body).data.records
const received = () => receiver.received.flatMap(recordsIn)
const metric = async (line: string) => {
  const { body } = await metrics.expose()
  return Number(
    body
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.split(' ')[1],
  )
}

/** Number of duplicates among received records. Fails unless each record of each chain came. */
async function expectAll(records: { chain_id: string; seq: number }[]): Promise<number> {
  const stored = await db().selectFrom('audit_records').select(['chain_id', 'seq']).execute()
  const keys = records.map(({ chain_id, seq }) => `${chain_id}/${seq}`)
  const expected = stored.map(({ chain_id, seq }) => `${chain_id}/${seq}`)
  expect([...new Set(keys)].sort()).toEqual(expected.sort())
  return keys.length - expected.length
}

describe('a webhook', () => {
  test('gets each record of each chain once, in order, with a valid signature', async () => {
    const organizations = [newId(), newId()]
    await append(45, organizations[0])
    await append(3, organizations[1])
    await append(2)
    const run = open({ ...webhook(), audit_stream_webhook_headers: 'authorization=Splunk%20x' })
    await run()
    expect(await expectAll(received())).toBe(0)
    for (const chain of [...organizations]) {
      const own = received().filter(({ chain_id }) => chain_id === chain)
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_, at) => at + 1))
    }
    for (const { headers, body } of receiver.received) {
      expect(headers['authorization']).toBe('Splunk x')
      expect(() => new Webhook(streamSecret).verify(body, headers as never)).not.toThrow()
    }
    const requests = receiver.received.length
    await run()
    expect(receiver.received).toHaveLength(requests)
    await append(1)
    await run()
    expect(await expectAll(received())).toBe(0)
  })

  test('does not wait for one busy organization', async () => {
    const [busy, other] = [newId(), newId()]
    await append(60, busy)
    await append(1, other)
    await open(webhook())()
    expect(recordsIn(receiver.received[0] as Received)).toContainEqual(
      expect.objectContaining({ chain_id: other }),
    )
  })

  test('gets the reads that a record seals', async () => {
    const read = auditEntry({ action: 'getTask', resource_id: 'task-1' })
    await storeRead({ ...read, origin: { address: '192.0.2.1', user_agent: 'a' } })
    await sealReads(db(), systemClock)
    await open(webhook())()
    expect(received()).toMatchObject([
      {
        ...{ action: 'sealReads', segment_count: 1 },
        reads: [{ action: 'getTask', resource_id: 'task-1', origin: { address: '192.0.2.1' } }],
      },
    ])
    expect(receiver.received[0]?.body).not.toMatch(/salt/)
  })

  test('that is unavailable loses nothing, is asked less often, and shows its lag', async () => {
    await append(30)
    const run = open(webhook())
    receiver.answer = status(503)
    for (let attempt = 0; attempt < 5; attempt += 1) await run()
    expect(receiver.received).toHaveLength(1)
    expect(await metric('looptrace_audit_stream_lag_records{stream="webhook"}')).toBe(30)
    clock.ahead_ms += 5_000
    expect(await metric('looptrace_audit_stream_lag_seconds{stream="webhook"}')).toBeGreaterThan(4)
    await run()
    expect(receiver.received).toHaveLength(2)
    receiver.answer = status(200)
    receiver.received.length = 0
    clock.ahead_ms += 60_000
    await run()
    expect(await expectAll(received())).toBe(0)
    expect(await metric('looptrace_audit_stream_lag_records{stream="webhook"}')).toBe(0)
    expect(await metric('looptrace_audit_stream_lag_seconds{stream="webhook"}')).toBe(0)
    const failures = 'looptrace_audit_stream_failures_total{stream="webhook",reason="status"}'
    expect(await metric(failures)).toBe(2)
    expect(await metric('looptrace_audit_stream_records_total{stream="webhook"}')).toBe(30)
  })

  test('sets the wait with Retry-After, up to ten minutes', async () => {
    await append(1)
    const run = open(webhook())
    receiver.answer = status(429, { 'retry-after': '120' })
    await run()
    clock.ahead_ms += 119_000
    await run()
    expect(receiver.received).toHaveLength(1)
    receiver.answer = status(429, { 'retry-after': '999999' })
    clock.ahead_ms += 2_000
    await run()
    expect(receiver.received).toHaveLength(2)
    receiver.answer = status(200)
    clock.ahead_ms += 601_000
    await run()
    expect(receiver.received).toHaveLength(3)
  })

  test.each<[string, Receiver['answer']]>([
    ['does not answer', () => undefined],
    ['closes the connection', (response) => response.destroy()],
    ['answers with a page', status(200, { 'content-type': 'text/html' }, '<p>hi')],
    ['redirects', status(302, { location: 'http://169.254.169.254/latest' })],
    ['refuses the credentials', status(401)],
  ])('that %s gets the records again', async (_name, answer) => {
    await append(2)
    const run = open(webhook(), { timeout_ms: 200 })
    receiver.answer = answer
    await run()
    receiver.answer = status(200)
    clock.ahead_ms += 60_000
    await run()
    expect(await expectAll(received())).toBe(2)
    expect(logged.join('\n')).not.toContain('in-the-url')
    expect(logged.join('\n')).not.toContain('whsec_')
  })

  test('that answers with an endless body is cut off', async () => {
    await append(1)
    receiver.answer = (response) => {
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once('drain', write)
      }
      write()
    }
    await open(webhook())()
    expect(await metric('looptrace_audit_stream_records_total{stream="webhook"}')).toBe(1)
  })

  test('gets less after 413, down to a record without details', async () => {
    await append(4)
    const change = { after: { text: 'x'.repeat(9_000) } }
    await trail().append(auditEntry({ change, resource_id: 'big' }))
    await append(4)
    receiver.answer = (response, { body }) =>
      response.writeHead(body.length > 4_000 ? 413 : 200).end()
    await open(webhook())()
    receiver.received.splice(
      0,
      Number.POSITIVE_INFINITY,
      ...receiver.received.filter(({ body }) => body.length <= 4_000),
    )
    expect(await expectAll(received())).toBe(0)
    expect(received().filter(({ left_out }) => left_out)).toMatchObject([
      { change: null, resource_id: null, change_hash: expect.any(String) },
    ])
  })

  test('has bodies within the limit', async () => {
    const change = { after: { text: 'x'.repeat(9_000) } }
    for (let at = 0; at < 20; at += 1) await trail().append(auditEntry({ change }))
    await open(webhook(), { body_bytes_max: 65_536 })()
    expect(await expectAll(received())).toBe(0)
    for (const { bytes } of receiver.received) expect(bytes.length).toBeLessThan(66_000)
  })
})

describe('the guard', () => {
  test.each(['http://169.254.169.254/latest/meta-data', 'http://127.0.0.1:1/', 'http://[::1]/'])(
    'keeps a stream away from %s',
    async (audit_stream_webhook_url) => {
      await append(1)
      await open({ audit_stream_webhook_url })()
      const failures = 'looptrace_audit_stream_failures_total{stream="webhook",reason="guard"}'
      expect(await metric(failures)).toBe(1)
    },
  )

  test('counts a closed port as a failed connection', async () => {
    await append(1)
    const port = await closedPort()
    const outbound_allowed = `127.0.0.0/8:${port}`
    const audit_stream_webhook_url = `http://127.0.0.1:${port}/`
    await open({ audit_stream_webhook_url, outbound_allowed })()
    const failures = 'looptrace_audit_stream_failures_total{stream="webhook",reason="connection"}'
    expect(await metric(failures)).toBe(1)
  })
})

describe('OTLP logs', () => {
  const reply = (partial: object) => {
    const type = otlpMessage('ExportLogsServiceResponse')
    return Buffer.from(type.encode(type.fromObject({ partialSuccess: partial })).finish())
  }
  const protobuf = { 'content-type': 'application/x-protobuf' }

  test('have the names of OpenTelemetry, and are read by another decoder', async () => {
    const organization_id = newId()
    const origin = { address: '192.0.2.1', user_agent: 'curl/8' }
    const change = { after: { name: 'a' } }
    await trail().append(auditEntry({ organization_id, origin, change, action: 'createApiKey' }))
    const failed = { outcome: 'failed', code: 'store_unavailable', suppressed: 300 } as const
    await trail().append(auditEntry({ organization_id, ...failed, actor_kind: 'key' }))
    await storeRead(auditEntry({ organization_id, action: 'getTask' }))
    await sealReads(db(), systemClock)
    await open({ ...otlp(), audit_stream_otlp_headers: 'Api-Key=a%20b,tenant=t' })()
    const [request] = receiver.received
    expect(request?.headers).toMatchObject({ ...protobuf, 'api-key': 'a b', tenant: 't' })
    const logs = logsIn(request?.bytes ?? Buffer.alloc(0))
    expect(logs).toMatchObject([
      { severityText: 'INFO', severityNumber: 9, eventName: 'looptrace.audit.record' },
      { severityText: 'ERROR', severityNumber: 17, body: { stringValue: 'test failed' } },
      { body: { stringValue: 'sealReads succeeded' } },
      { eventName: 'looptrace.audit.read', body: { stringValue: 'getTask read' } },
    ])
    expect(logs.map(attributesIn)).toMatchObject([
      {
        'log.record.uid': `${organization_id}/1`,
        'user.id': 'ada',
        'client.address': '192.0.2.1',
        'user_agent.original': 'curl/8',
        'looptrace.audit.seq': 1,
        'looptrace.audit.change': '{"after":{"name":"a"}}',
      },
      { 'error.type': 'store_unavailable', 'looptrace.audit.suppressed': 300 },
      { 'looptrace.audit.segment_count': 1 },
      { 'user.id': 'ada', 'looptrace.audit.segment_seq': 3 },
    ])
    expect(attributesIn(logs[1] ?? {})).not.toHaveProperty('user.id')
  })

  test('that a receiver refuses in part are counted, and not sent again', async () => {
    await append(5)
    const partial = { rejectedLogRecords: 2, errorMessage: 'too old' }
    receiver.answer = (response) => response.writeHead(200, protobuf).end(reply(partial))
    const run = open(otlp())
    await run()
    await run()
    expect(receiver.received).toHaveLength(1)
    expect(await metric('looptrace_audit_stream_refused_records_total{stream="otlp"}')).toBe(2)
    expect(logged.join('\n')).toContain('too old')
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a warning', reply({ rejectedLogRecords: 0, errorMessage: 'hm' })],
    ['garbage', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x01])],
    ['a message that is cut off', reply({ rejectedLogRecords: 2 }).subarray(0, 3)],
  ])('are accepted by an answer of %s', async (_name, body) => {
    await append(1)
    receiver.answer = (response) => response.writeHead(200, protobuf).end(body)
    await open(otlp())()
    expect(await metric('looptrace_audit_stream_records_total{stream="otlp"}')).toBe(1)
  })

  test('and a webhook have a cursor each', async () => {
    await append(3)
    receiver.answer = (response, { path }) =>
      response.writeHead(path.startsWith('/v1/logs') ? 200 : 500).end()
    const run = open({ ...webhook(), ...otlp() })
    await run()
    expect(await metric('looptrace_audit_stream_lag_records{stream="otlp"}')).toBe(0)
    expect(await metric('looptrace_audit_stream_lag_records{stream="webhook"}')).toBe(3)
  })
})

test('an erased detail is not sent after its erasure, also by a repeated request', async () => {
  const user_id = newId()
  const organization_id = newId()
  const origin = { address: '203.0.113.77', user_agent: 'hers' }
  await trail().append(auditEntry({ organization_id, actor_id: user_id, origin }))
  const answers: (() => void)[] = []
  receiver.answer = (response) => void answers.push(() => response.writeHead(500).end())
  const run = open(webhook(), { timeout_ms: 5_000 })
  const running = run()
  await eventually('the request arrived', () => answers.length === 1)
  let isErased = false
  const erasing = erasePerson(db(), {
    ...{ chain_id: organization_id, user_id, erased_at: new Date().toISOString() },
  }).then(() => {
    isErased = true
  })
  await sleep(300)
  expect(isErased).toBe(false)
  answers[0]?.()
  await Promise.all([running, erasing])
  expect(receiver.received[0]?.body).toContain('203.0.113.77')
  receiver.received.length = 0
  receiver.answer = status(200)
  clock.ahead_ms += 60_000
  await run()
  expect(receiver.received).toHaveLength(1)
  expect(receiver.received[0]?.body).not.toContain('203.0.113.77')
  expect(received()).toMatchObject([{ origin: null, origin_hash: expect.any(String) }])
})

test('records that commit while a stream runs are not skipped', async () => {
  const chains = [null, newId(), newId()]
  const run = open(webhook())
  let isWriting = true
  const streaming = (async () => {
    while (isWriting) await run()
    await run()
  })()
  await Promise.all(
    Array.from({ length: 5 }, (_, at) => append(40, chains[at % chains.length] ?? null)),
  )
  isWriting = false
  await streaming
  expect(await expectAll(received())).toBe(0)
})

test('two workers do not send at the same time', async () => {
  await append(40)
  let [now, most] = [0, 0]
  receiver.answer = (response) => {
    now += 1
    most = Math.max(most, now)
    setTimeout(() => {
      now -= 1
      response.end()
    }, 30)
  }
  const [first, second] = [open(webhook()), open(webhook())]
  await Promise.all([first(), second()])
  await first()
  expect(most).toBe(1)
  expect(await expectAll(received())).toBe(0)
})

test('killed workers leave no gap; what they sent without its cursor comes again', async () => {
  const kills = killsOfRun({ test: 2, soak: 20 })
  const total = 30 * kills
  receiver.answer = (response) => void setTimeout(() => response.end(), 15)
  await append(total)
  const settings = { ...webhook(), ...allowed() }
  const limits = { records_max: 5 }
  const given = JSON.stringify({ postgres: url, settings, limits })
  for (let at = 0; at < kills; at += 1) {
    const worker = workers.start(given)
    await once(worker.stdout, 'data')
    const before = receiver.received.length
    await eventually('the worker sends', () => receiver.received.length > before + (at % 3), {
      interval_ms: 2,
    })
    await workers.kill(worker)
    await append(2)
  }
  const last = workers.start(given)
  const isDone = async () => {
    const cursor = await db().selectFrom('audit_stream_cursors').select('seq').executeTakeFirst()
    return cursor?.seq === total + 2 * kills
  }
  await eventually('all records were sent', isDone, { timeout_ms: 60_000 })
  await workers.kill(last)
  const duplicates = await expectAll(received())
  expect(duplicates).toBeLessThanOrEqual(5 * kills)
  process.stdout.write(`audit stream: ${kills} kills, no gap, ${duplicates} records came twice\n`)
}, 180_000)
