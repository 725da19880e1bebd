import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEnqueuer } from '../../src/capabilities/edge/enqueue/index.ts'
import { createCaptureRecorder, createRecorder } from '../../src/capabilities/edge/proxy/index.ts'
import { createLedgerReporter } from '../../src/capabilities/ledger/index.ts'
import { type CaptureRules, compilePolicy } from '../../src/capabilities/records/capture/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { decodeFrame } from '../../src/model/exchange-frame.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { openSqliteQueue, type Queue } from '../../src/platform/queue/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'
import { testProvider } from '../support/provider.ts'
import { goodHeaders, projectId, testProxy } from '../support/proxy.ts'
import { consumeOptions } from '../support/queues.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
const mail = { name: 'mail', pattern: '[a-z]+@[a-z.]+', keys: null, replacement: '[masked:mail]' }
const password = { name: 'pw', pattern: null, keys: ['password'], replacement: '[masked:pw]' }

/** The edge of a proxy with one policy for all, on a queue in its own folder. */
async function openEdge(rules: Partial<CaptureRules>) {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-capture-'))
  const path = join(directory, 'queue.sqlite')
  const queue = await openSqliteQueue({ path, bytes_max: 50_000_000, logger })
  const metrics = createMetrics()
  const shared = { newId, clock: systemClock, metrics, logger }
  const reporter = createLedgerReporter({
    ...shared,
    publish: (message) => queue.publish(message),
    interval_ms: 5,
  })
  const edge = {
    ...shared,
    publish: (message: Parameters<Queue['publish']>[0]) => queue.publish(message),
    message_bytes_max: queue.message_bytes_max,
    inflight_bytes_max: 10_000_000,
    onAccepted: (entries: readonly LedgerEntry[]) => reporter.accepted(entries),
  }
  const enqueuer = createEnqueuer(edge)
  const policy = compilePolicy({ content: 'full', sample_rate: 1, masks: [], ...rules })
  const recorder = createRecorder({
    ...edge,
    frame_bytes: 100_000,
    frame_age_ms: 5,
    capture: createCaptureRecorder({ policies: { policyOf: () => policy }, enqueuer }),
  })
  return {
    recorder,
    metrics,
    settle: async () => {
      await recorder.flush()
      await enqueuer.flush()
      await reporter.flush()
    },
    /** Every byte that the queue has written to disk. */
    onDisk: async () => {
      const files = await readdir(directory)
      return Buffer.concat(await Promise.all(files.map((file) => readFile(join(directory, file)))))
    },
    messages: () => allMessages(queue),
    [Symbol.asyncDispose]: async () => {
      await reporter.close()
      await queue.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function allMessages(queue: Queue) {
  const kinds = { ingest: [] as Buffer[], ledger: [] as LedgerEntry[] }
  const { pending } = await queue.stats()
  let seen = 0
  const consumers = await Promise.all(
    (['ingest', 'ledger'] as const).map((kind) =>
      queue.consume({ ...consumeOptions, kind }, async (batch) => {
        for (const delivery of batch) {
          const data = Buffer.from(delivery.data)
          if (kind === 'ingest') kinds.ingest.push(data)
          else kinds.ledger.push(...JSON.parse(data.toString()).entries)
          seen += 1
          await delivery.ack()
        }
      }),
    ),
  )
  await eventually('all messages', () => (seen >= pending ? true : undefined))
  await Promise.all(consumers.map((consumer) => consumer.stop()))
  return kinds
}

const secret = 'someone@private.example'
const secretText = 'the-words-of-the-user'
const question = {
  model: 'gpt-4o',
  temperature: 0.5,
  messages: [
    { role: 'user', content: `${secretText}: write to ${secret}` },
    {
      role: 'assistant',
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'login', arguments: '{"password":"hunter2hunter2"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: `{"password":"hunter2hunter2","to":"${secret}"}` },
  ],
}
const reply = { content: `the-words-of-the-model for ${secret}` }
const headers = { ...goodHeaders, 'x-user-id': secret, baggage: `mail=${secret}` }

/** Makes calls, whole and streamed, and a failing one; returns their receipts. */
async function makeCalls(edge: Awaited<ReturnType<typeof openEdge>>) {
  const fails = { reply: { error: { status: 400, message: `no ${secret}, ${secretText}` } } }
  await using provider = await testProvider({ script: { steps: [{ reply }, { reply }, fails] } })
  await using proxy = await testProxy({ ...provider, recorder: edge.recorder })
  const receipts: string[] = []
  for (const stream of [false, true, false]) {
    const answer = await fetch(proxy.chat, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, stream }),
    })
    await answer.text()
    receipts.push(answer.headers.get('x-ingest-request-id') ?? '')
  }
  await eventually('three calls', () => (edge.recorder.stats().seen === 3 ? true : undefined))
  await edge.settle()
  return receipts
}

const itemsOf = (entries: LedgerEntry[], of: (entry: LedgerEntry) => number | undefined) =>
  entries.reduce((sum, entry) => sum + (of(entry) ?? 0), 0)

test('masked text is neither on disk nor in a message; the rest is', async () => {
  await using edge = await openEdge({ masks: [mail, password] })
  const receipts = await makeCalls(edge)
  const disk = await edge.onDisk()
  const { ingest, ledger } = await edge.messages()
  const sent = Buffer.concat(ingest)
  for (const bytes of [disk, sent]) {
    expect([bytes.includes(secret), bytes.includes('hunter2')]).toEqual([false, false])
    expect([bytes.includes(secretText), bytes.includes('the-words-of-the-model')]).toEqual([
      true,
      true,
    ])
    expect([bytes.includes('[masked:mail]'), bytes.includes('[masked:pw]')]).toEqual([true, true])
  }
  expect(new Set(ledger.map((entry) => entry.ingest_request_id))).toEqual(new Set(receipts))
  expect(itemsOf(ledger, ({ items }) => items)).toBe(3)
  expect(itemsOf(ledger, ({ masked }) => masked)).toBe(3)
})

test('metadata_only: no content is on disk, the calls are', async () => {
  await using edge = await openEdge({ content: 'metadata_only', masks: [mail] })
  await makeCalls(edge)
  const disk = await edge.onDisk()
  for (const absent of ['words-of-the-model', 'hunter2', secret]) {
    expect([absent, disk.includes(absent)]).toEqual([absent, false])
  }
  expect(disk.includes('gpt-4o')).toBe(true)
  const { ledger } = await edge.messages()
  expect(itemsOf(ledger, ({ masked }) => masked)).toBe(3)
})

test.each([
  [{ content: 'off' as const }, 'capture_off'],
  [{ sample_rate: 0 }, 'sampled'],
])('%j: the calls are counted and nothing else is known of them', async (rules, reason) => {
  await using edge = await openEdge(rules)
  const receipts = await makeCalls(edge)
  const disk = await edge.onDisk()
  expect([disk.includes('gpt-4o'), disk.includes(secretText)]).toEqual([false, false])
  const { ingest, ledger } = await edge.messages()
  expect(ingest).toEqual([])
  expect(ledger.map((entry) => entry.ingest_request_id).sort()).toEqual(receipts.toSorted())
  expect(ledger.map(({ items, rejected }) => [items, rejected])).toEqual(
    receipts.map(() => [1, { [reason]: 1 }]),
  )
})

test('with the default policy the raw exchanges are queued, with their receipts', async () => {
  await using edge = await openEdge({})
  const receipts = await makeCalls(edge)
  const { ingest, ledger } = await edge.messages()
  const exchanges = ingest.flatMap((data) => decodeFrame(data, 1_000_000))
  expect(exchanges.map(({ facts }) => facts.ingest_request_id)).toEqual(receipts)
  expect(Buffer.from(exchanges[0]?.request ?? []).toString()).toContain(secret)
  expect(ledger.map((entry) => entry.ingest_request_id)).toEqual(receipts)
  expect(ledger.every(({ project_id, path }) => project_id === projectId && path === 'proxy')).toBe(
    true,
  )
})

test('a call that is not recorded has no receipt; one that is refused with a key has', async () => {
  await using edge = await openEdge({})
  await using proxy = await testProxy({ recorder: edge.recorder })
  const ask = async (sent: Record<string, string>) => {
    const answer = await fetch(proxy.chat, { method: 'POST', headers: sent, body: '{}' })
    await answer.text()
    return [answer.status, answer.headers.get('x-ingest-request-id')]
  }
  expect(await ask({})).toEqual([401, null])
  expect(await ask({ ...goodHeaders, 'x-api-key': 'lt_wrong' })).toEqual([401, null])
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  expect(await ask({ ...goodHeaders, 'content-type': 'text/plain' })).toEqual([415, uuid])
})
