import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainFacts } from '../../../../../test/support/exchange-facts.ts'
import { fuzzRuns } from '../../../../../test/support/suite/budget.ts'
import { newId } from '../../../../kernel/ids.ts'
import { systemClock } from '../../../../kernel/time.ts'
import type { Exchange, ExchangeFacts } from '../../../../model/exchange.ts'
import { decodeFrame } from '../../../../model/exchange-frame.ts'
import type { LedgerEntry } from '../../../../model/ledger-entry.ts'
import { MessageTooLarge, type OutgoingMessage } from '../../../../platform/queue/index.ts'
import { createLogger, createMetrics } from '../../../../platform/telemetry/index.ts'
import { compilePolicy } from '../../../records/capture/index.ts'
import type { IngestRequest } from '../../enqueue/index.ts'
import { createCaptureRecorder } from './capture-recorder.ts'
import { createRecorder, type Recorder, type RecorderOptions } from './recorder.ts'

const decompressed_bytes_max = 64 * 1024 * 1024
const projects = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002']

function exchangeOf(
  about: { project?: number; request?: Buffer; response?: Buffer } = {},
): Exchange {
  const facts: ExchangeFacts = {
    ...plainFacts,
    ingest_request_id: newId(),
    project_id: projects[about.project ?? 0] ?? '',
    trace_id: newId(),
    request_bytes: about.request?.length ?? 0,
    response_bytes: about.response?.length ?? 0,
  }
  const { request = Buffer.from('{"model":"m"}'), response = Buffer.from('{}') } = about
  return { facts, request, response }
}

/** Records a call whose answer does not matter. */
function record(recorder: Recorder, exchange: Exchange): void {
  recorder.record(exchange, () => undefined)
}

/** A recorder whose messages are kept, or go to `publish`. */
function recorderOf(options: Partial<RecorderOptions> = {}) {
  const messages: OutgoingMessage[] = []
  const metrics = createMetrics()
  const defaults: RecorderOptions = {
    publish: async (message) => {
      messages.push({ ...message, data: Buffer.from(message.data) })
    },
    frame_bytes: 128 * 1024,
    frame_age_ms: 5,
    message_bytes_max: 1024 * 1024,
    inflight_bytes_max: 64 * 1024 * 1024,
    clock: systemClock,
    newId,
    metrics,
    logger: createLogger({ role: 'test', level: 'silent' }),
    retry: { attempts_max: 3, delay_ms: 1 },
  }
  const recorder = createRecorder(
    Object.defineProperties(defaults, Object.getOwnPropertyDescriptors(options)),
  )
  const exchanges = () =>
    messages.flatMap((message) => decodeFrame(message.data, decompressed_bytes_max))
  return { recorder, messages, exchanges, metrics }
}

test('records of a project share a frame, published at its maximum age', async () => {
  const { recorder, messages, exchanges } = recorderOf()
  const sent = [exchangeOf(), exchangeOf(), exchangeOf({ project: 1 })]
  for (const exchange of sent) record(recorder, exchange)
  expect(recorder.stats()).toEqual({ seen: 3, published: 0, refused: 0, lost: 0, pending: 3 })
  for (let i = 0; i < 200 && messages.length < 2; i += 1) await sleep(5)
  expect(messages.map(({ subject }) => subject)).toEqual(projects.map((id) => `ingest.${id}`))
  expect(messages[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  expect(exchanges().map(({ facts }) => facts.trace_id)).toEqual(
    sent.map(({ facts }) => facts.trace_id),
  )
  expect(exchanges().map(({ request }) => Buffer.from(request).toString())).toEqual(
    sent.map(({ request }) => Buffer.from(request).toString()),
  )
  expect(recorder.stats()).toEqual({ seen: 3, published: 3, refused: 0, lost: 0, pending: 0 })
})

test('a frame is published when it is full, and never exceeds its size', async () => {
  const { recorder, messages, exchanges } = recorderOf({ frame_bytes: 4_000, frame_age_ms: 60_000 })
  for (let i = 0; i < 20; i += 1) record(recorder, exchangeOf({ request: Buffer.alloc(300, 'x') }))
  expect(messages.length).toBeGreaterThan(3)
  await recorder.flush()
  expect(exchanges()).toHaveLength(20)
  for (const { data } of messages) expect(data.length).toBeLessThanOrEqual(4_000)
})

describe('an exchange that is larger than a frame', () => {
  test('is compressed in a message of its own', async () => {
    const { recorder, messages, exchanges } = recorderOf()
    const large = exchangeOf({ request: Buffer.alloc(3_000_000, '{"role":"user"}') })
    record(recorder, exchangeOf())
    record(recorder, large)
    await recorder.flush()
    expect(messages).toHaveLength(2)
    expect(messages.map(({ data }) => data[1]).sort()).toEqual([0, 1])
    const found = exchanges().find(({ facts }) => facts.trace_id === large.facts.trace_id)
    expect(Buffer.from(found?.request ?? []).equals(large.request)).toBe(true)
    expect(found?.facts).toEqual(large.facts)
  })

  const noise = randomBytes(400_000)

  test.each([
    ['the request', noise, Buffer.from('{}')],
    ['the answer too', noise, noise],
  ])('drops %s when it still does not fit, and never its facts', async (_, request, response) => {
    const { recorder, messages, exchanges } = recorderOf({ message_bytes_max: 200_000 })
    const sent = exchangeOf({ request, response })
    record(recorder, sent)
    await recorder.flush()
    const [kept] = exchanges()
    expect(kept?.facts).toEqual({ ...sent.facts, content_state: 'dropped' })
    expect(kept?.request).toHaveLength(0)
    expect(Buffer.from(kept?.response ?? []).toString()).toBe(
      response === noise ? '' : response.toString(),
    )
    for (const { data } of messages) expect(data.length).toBeLessThanOrEqual(200_000)
    expect(recorder.stats()).toMatchObject({ published: 1, lost: 0 })
  })

  test('is lost and counted when even the facts do not fit', async () => {
    const { recorder } = recorderOf({ message_bytes_max: 100 })
    record(recorder, exchangeOf())
    await recorder.flush()
    expect(recorder.stats()).toEqual({ seen: 1, published: 0, refused: 0, lost: 1, pending: 0 })
  })
})

describe('a publish that fails', () => {
  test('is repeated with the same id', async () => {
    const ids: string[] = []
    const { recorder } = recorderOf({
      publish: async ({ id }) => {
        ids.push(id)
        if (ids.length < 3) throw new Error('away')
      },
    })
    record(recorder, exchangeOf())
    await recorder.flush()
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(1)
    expect(recorder.stats()).toEqual({ seen: 1, published: 1, refused: 0, lost: 0, pending: 0 })
  })

  test('is given up after its attempts, and counted', async () => {
    let tries = 0
    const { recorder, metrics } = recorderOf({
      publish: async () => {
        tries += 1
        throw new Error('away')
      },
    })
    record(recorder, exchangeOf())
    record(recorder, exchangeOf())
    await recorder.flush()
    expect(tries).toBe(3)
    expect(recorder.stats()).toEqual({ seen: 2, published: 0, refused: 0, lost: 2, pending: 0 })
    expect((await metrics.expose()).body).toContain(
      'looptrace_proxy_records_total{result="lost",reason="not_published"} 2',
    )
  })

  test('is not repeated when the message is too large', async () => {
    let tries = 0
    const { recorder } = recorderOf({
      publish: async () => {
        tries += 1
        throw new MessageTooLarge('no')
      },
    })
    record(recorder, exchangeOf())
    await recorder.flush()
    expect(tries).toBe(1)
    expect(recorder.stats().lost).toBe(1)
  })
})

test('waiting records are bounded in bytes; more are lost and counted', async () => {
  const held = Promise.withResolvers<void>()
  const { recorder, metrics } = recorderOf({
    publish: () => held.promise,
    inflight_bytes_max: 10_000,
    frame_bytes: 2_000,
  })
  for (let i = 0; i < 20; i += 1) record(recorder, exchangeOf({ request: Buffer.alloc(500) }))
  const { lost, pending } = recorder.stats()
  expect(lost).toBeGreaterThan(5)
  expect(lost + pending).toBe(20)
  expect((await metrics.expose()).body).toContain(`reason="inflight_full"} ${lost}`)
  held.resolve()
  await recorder.flush()
  expect(recorder.stats()).toEqual({ seen: 20, published: 20 - lost, refused: 0, lost, pending: 0 })
  record(recorder, exchangeOf())
  await recorder.flush()
  expect(recorder.stats().published).toBe(21 - lost)
})

test('after close records are lost and counted', async () => {
  const { recorder, exchanges } = recorderOf({ frame_age_ms: 60_000 })
  record(recorder, exchangeOf())
  await recorder.close()
  record(recorder, exchangeOf())
  expect(exchanges()).toHaveLength(1)
  expect(recorder.stats()).toEqual({ seen: 2, published: 1, refused: 0, lost: 1, pending: 0 })
})

test('the limit of a message is read for each message', async () => {
  let message_bytes_max = 1_000_000
  const { recorder, messages } = recorderOf({
    get message_bytes_max() {
      return message_bytes_max
    },
    frame_age_ms: 60_000,
  })
  record(recorder, exchangeOf())
  message_bytes_max = 1_500
  record(recorder, exchangeOf())
  record(recorder, exchangeOf())
  await recorder.flush()
  for (const { data } of messages) expect(data.length).toBeLessThanOrEqual(1_500)
  expect(recorder.stats().published).toBe(3)
})

test('with any queue, seen = published + lost + pending, and nothing is duplicated', async () => {
  const step = fc.record({
    project: fc.nat(1),
    bytes: fc.oneof(fc.nat(600), fc.nat(9_000)),
    flush: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.array(fc.boolean()),
      async (steps, fates) => {
        const stored = new Map<string, OutgoingMessage>()
        const reported: LedgerEntry[] = []
        let at = 0
        const { recorder } = recorderOf({
          onAccepted: (entries) => reported.push(...entries),
          frame_bytes: 3_000,
          message_bytes_max: 5_000,
          inflight_bytes_max: 30_000,
          retry: { attempts_max: 2, delay_ms: 0 },
          publish: async (message) => {
            at += 1
            if (fates.length > 0 && fates[at % fates.length]) throw new Error('away')
            stored.set(message.id, { ...message, data: Buffer.from(message.data) })
          },
        })
        for (const { project, bytes, flush } of steps) {
          record(recorder, exchangeOf({ project, request: Buffer.alloc(bytes, at) }))
          const { seen, published, lost, pending } = recorder.stats()
          expect(seen).toBe(published + lost + pending)
          if (flush) await recorder.flush()
        }
        await recorder.close()
        const frames = [...stored.values()].map(({ data }) =>
          decodeFrame(data, decompressed_bytes_max),
        )
        const { published, lost, pending } = recorder.stats()
        expect(frames.flat()).toHaveLength(published)
        expect([published + lost, pending]).toEqual([steps.length, 0])
        const receipts = (entries: LedgerEntry[]) =>
          entries.map((entry) => `${entry.message_id} ${entry.ingest_request_id}`).sort()
        const durable = [...stored.values()].flatMap(({ id, data }) =>
          decodeFrame(data, decompressed_bytes_max).map(
            ({ facts }) => `${id} ${facts.ingest_request_id}`,
          ),
        )
        expect(receipts(reported.filter((entry) => entry.message_id !== ''))).toEqual(
          durable.sort(),
        )
        expect(reported.filter(({ message_id }) => message_id === '')).toHaveLength(lost)
        expect(reported.every(({ items, path }) => items === 1 && path === 'proxy')).toBe(true)
      },
    ),
    { numRuns: fuzzRuns(60) },
  )
})

describe('the ledger', () => {
  test('gets each durable call with its message and arrival', async () => {
    const reported: LedgerEntry[] = []
    const { recorder, messages } = recorderOf({
      onAccepted: (entries) => reported.push(...entries),
    })
    const exchange = exchangeOf()
    record(recorder, exchange)
    await recorder.flush()
    expect(reported).toEqual([
      expect.objectContaining({
        project_id: projects[0],
        ingest_request_id: exchange.facts.ingest_request_id,
        message_id: messages[0]?.id,
        side: 'accepted',
        path: 'proxy',
        received_at_ms: 1_790_000_000_000,
        items: 1,
        lost: {},
        rejected: {},
      }),
    ])
  })

  test('gets the reason of a lost call', async () => {
    const reported: LedgerEntry[] = []
    const { recorder } = recorderOf({
      onAccepted: (entries) => reported.push(...entries),
      publish: () => Promise.reject(new Error('away')),
    })
    record(recorder, exchangeOf())
    await recorder.close()
    record(recorder, exchangeOf())
    expect(reported.map(({ lost, items, message_id }) => [lost, items, message_id])).toEqual([
      [{ not_published: 1 }, 1, ''],
      [{ closed: 1 }, 1, ''],
    ])
  })
})

describe('a project with a capture policy', () => {
  const mail = {
    name: 'mail',
    pattern: '[a-z]+@[a-z.]+',
    keys: null,
    replacement: '[maskExchange:mail]',
  }
  const request = Buffer.from(
    JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'I am a@b.example' }] }),
  )

  /** A recorder with a policy, whose requests to the queue are kept. */
  function capturing(
    rules: Partial<Parameters<typeof compilePolicy>[0]>,
    about: { known?: 'later'; enqueue?: () => Promise<number> } = {},
  ) {
    const requests: IngestRequest[] = []
    const reported: LedgerEntry[] = []
    const policy = compilePolicy({ content: 'full', sample_rate: 1, masks: [], ...rules })
    const enqueue = async (sent: IngestRequest) => {
      await about.enqueue?.()
      requests.push(sent)
      return 1
    }
    const policyOf = () => (about.known === 'later' ? Promise.resolve(policy) : policy)
    const retry = { attempts_max: 2, delay_ms: 0 }
    const made = recorderOf({
      onAccepted: (entries) => reported.push(...entries),
      capture: createCaptureRecorder({ policies: { policyOf }, enqueuer: { enqueue }, retry }),
    })
    return { ...made, requests, reported }
  }

  test.each([undefined, 'later' as const])(
    'publishes only the permitted parts of a call (policy %s)',
    async (known) => {
      const { recorder, messages, requests, reported } = capturing(
        { masks: [mail] },
        known ? { known } : {},
      )
      const exchange = exchangeOf({ request })
      record(recorder, exchange)
      await recorder.flush()
      expect(messages).toEqual([])
      const [sent] = requests
      expect(sent).toMatchObject({ items: 1, masked: 1, rejected: {}, path: 'proxy' })
      expect(sent?.ingest_request_id).toBe(exchange.facts.ingest_request_id)
      expect(sent?.records.observations[0]).toMatchObject({
        input: '[{"role":"user","content":"I am [maskExchange:mail]"}]',
        model_requested: 'gpt-4o',
        content_state: 'full',
      })
      expect(recorder.stats()).toEqual({ seen: 1, published: 1, refused: 0, lost: 0, pending: 0 })
      expect(reported).toEqual([])
    },
  )

  test('the default policy, known late, changes nothing', async () => {
    const { recorder, exchanges, requests } = capturing({}, { known: 'later' })
    record(recorder, exchangeOf({ request }))
    await recorder.flush()
    expect(exchanges().map((kept) => Buffer.from(kept.request))).toEqual([request])
    expect(requests).toEqual([])
  })

  test.each([
    [{ content: 'off' as const }, 'capture_off'],
    [{ sample_rate: 0 }, 'sampled'],
  ])('%j: nothing is published, and the ledger has the reason', async (rules, reason) => {
    const { recorder, messages, requests, reported } = capturing(rules)
    record(recorder, exchangeOf({ request }))
    await recorder.flush()
    expect([messages, requests]).toEqual([[], []])
    expect(reported).toMatchObject([{ items: 1, rejected: { [reason]: 1 }, message_id: '' }])
    expect(recorder.stats()).toEqual({ seen: 1, published: 0, refused: 1, lost: 0, pending: 0 })
  })

  test('a call that the queue refuses is retried, then lost and reported', async () => {
    let tries = 0
    const enqueue = () => {
      tries += 1
      return Promise.reject(new Error('away'))
    }
    const { recorder, reported } = capturing({ content: 'metadata_only' }, { enqueue })
    record(recorder, exchangeOf({ request }))
    await recorder.flush()
    expect(tries).toBe(2)
    expect(reported).toMatchObject([{ items: 1, lost: { not_published: 1 }, message_id: '' }])
    expect(recorder.stats()).toEqual({ seen: 1, published: 0, refused: 0, lost: 1, pending: 0 })
  })

  test('a secret at the cut of a long text is masked before the cut', async () => {
    const { recorder, requests } = capturing({ masks: [mail] })
    const content = `${'x '.repeat(2_045)}secret@host.example`
    const messages = [{ role: 'tool', tool_call_id: 't', content }]
    record(recorder, exchangeOf({ request: Buffer.from(JSON.stringify({ messages })) }))
    await recorder.flush()
    expect(JSON.stringify(requests[0]?.records.observations[0]?.tool_results)).not.toContain(
      'secret',
    )
  })
})
