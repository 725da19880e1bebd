import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  assertWhole,
  enqueuerOf,
  framesIn,
  observationsIn,
} from '../../../../test/support/enqueuers.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import {
  eventOf,
  observation,
  projects,
  requestOf,
} from '../../../../test/support/ingest-requests.ts'
import { Problem } from '../../../kernel/problem.ts'
import { MessageTooLarge, QueueUnavailable } from '../../../platform/queue/index.ts'
import { readObservation } from '../../storage/row-format/index.ts'

const otherProject = projects[1] ?? ''

describe('small requests', () => {
  test('of a project share a message, and resolve when it is durable', async () => {
    const { enqueuer, messages, entries } = enqueuerOf()
    const [first, second] = [observation(), observation()]
    const one = requestOf([first], { masked: 1, rejected: { sampled: 2 } })
    const two = requestOf([second])
    two.records.events.push(eventOf(second.observation_id))
    const other = requestOf([observation({ project_id: otherProject })], {
      project_id: otherProject,
    })
    const answers = await Promise.all([one, two, other].map((each) => enqueuer.enqueue(each)))
    expect(answers).toEqual([1, 1, 1])
    expect(messages.map(({ subject }) => subject)).toEqual(projects.map((id) => `ingest.${id}`))
    const [frame] = framesIn(messages)
    const ids = { path: 'otlp', received_at_ms: one.received_at_ms }
    const counts = { observations: 1, traces: 0, events: 0, links: 0, correlations: 0 }
    expect(frame?.receipts).toEqual([
      {
        ...{ ...ids, ingest_request_id: one.ingest_request_id, items: 1, rows: 1 },
        ...{ records: counts, masked: 1, rejected: { sampled: 2 } },
      },
      {
        ...{ ...ids, ingest_request_id: two.ingest_request_id, items: 1, rows: 2 },
        ...{ records: { ...counts, events: 1 }, masked: 0, rejected: {} },
      },
    ])
    expect(frame?.rows.map(({ kind, receipt }) => [kind, receipt])).toEqual([
      ['observations', 0],
      ['observations', 1],
      ['events', 1],
    ])
    const [read] = observationsIn(messages)
    expect(read).toEqual({
      ...first,
      ...{ output: 'out', attributes: { a: 'b' }, metadata: {}, message_id: messages[0]?.id },
    })
    const told = entries.map((entry) => [
      entry.ingest_request_id,
      entry.message_id,
      entry.items,
      entry.rejected,
    ])
    expect(told.toSorted()).toEqual(
      [
        [one.ingest_request_id, messages[0]?.id, 1, {}],
        [two.ingest_request_id, messages[0]?.id, 1, {}],
        [one.ingest_request_id, '', 2, { sampled: 2 }],
        [other.ingest_request_id, messages[1]?.id, 1, {}],
      ].toSorted(),
    )
  })

  test('without records resolve at once, and the ledger has their items', async () => {
    const { enqueuer, messages, entries } = enqueuerOf()
    expect(await enqueuer.enqueue(requestOf([], { items: 3, rejected: { sampled: 2 } }))).toBe(0)
    expect(messages).toEqual([])
    expect(entries).toMatchObject([
      { message_id: '', items: 3, rejected: { sampled: 2, no_records: 1 } },
    ])
  })

  test('a request whose items are not observations counts them in its first message', async () => {
    const { enqueuer, messages } = enqueuerOf()
    const request = requestOf([], { items: 2 })
    request.records.events.push(eventOf(''), eventOf(''))
    await enqueuer.enqueue(request)
    expect(framesIn(messages)[0]?.receipts).toMatchObject([{ items: 2, rows: 2 }])
  })
})

describe('a request with `alone`', () => {
  test('shares no message, and produces the same messages when repeated', async () => {
    const observations = Array.from({ length: 40 }, () => observation({ input: 'x'.repeat(300) }))
    const request = requestOf(observations)
    const runs = await Promise.all(
      [1, 2].map(async () => {
        const { enqueuer, messages } = enqueuerOf({ frame_bytes: 4_000 })
        const others = [enqueuer.enqueue(requestOf([observation()]))]
        const count = await enqueuer.enqueue(request, { alone: true })
        others.push(enqueuer.enqueue(requestOf([observation()])))
        await Promise.all(others)
        const own = messages.filter(({ data }) => data.includes(request.ingest_request_id))
        expect(own).toHaveLength(count)
        for (const frame of framesIn(own)) expect(frame.receipts).toHaveLength(1)
        return own.map(({ id, data }) => `${id} ${data.toString('latin1')}`).toSorted()
      }),
    )
    expect(runs[0]?.length).toBeGreaterThan(3)
    expect(runs[0]).toEqual(runs[1])
  })
})

describe('a row that is larger than a frame', () => {
  test('is compressed in a message of its own', async () => {
    const { enqueuer, messages } = enqueuerOf()
    const large = observation({ input: 'large '.repeat(500_000) })
    const request = requestOf([observation(), large, observation()])
    expect(await enqueuer.enqueue(request, { alone: true })).toBe(3)
    expect(messages.map(({ data }) => data[1]).toSorted()).toEqual([0, 0, 1])
    const read = observationsIn(messages)
    expect(read.find(({ observation_id }) => observation_id === large.observation_id)?.input).toBe(
      large.input,
    )
    for (const frame of framesIn(messages)) {
      for (const { bytes } of frame.rows) expect(readObservation(bytes).message_id).toBe(frame.id)
    }
    expect(
      framesIn(messages)
        .map(({ receipts }) => receipts[0]?.items)
        .toSorted(),
    ).toEqual([1, 1, 1])
  })

  test('does not split the receipt of its request when others interleave', async () => {
    const { enqueuer, messages } = enqueuerOf({ frame_age_ms: 60_000 })
    const request = requestOf([
      observation(),
      observation({ input: 'large '.repeat(500_000) }),
      observation(),
    ])
    const answers = [enqueuer.enqueue(request)]
    await new Promise(setImmediate)
    answers.push(enqueuer.enqueue(requestOf([observation()])))
    await eventually('the large row is published', () => messages.some(({ data }) => data[1] === 1))
    await enqueuer.close()
    await Promise.all(answers)
    expect(messages).toHaveLength(3)
    framesIn(messages).forEach(assertWhole)
  })

  const noise = () => randomBytes(60_000).toString('base64')

  test.each([
    ['its content', { input: noise() }, true],
    ['tool calls too', { tool_calls: [{ id: '1', name: 'f', arguments: noise() }] }, false],
  ])('drops %s when it still does not fit', async (_, about, keepsCalls) => {
    const { enqueuer, messages, metrics } = enqueuerOf({ message_bytes_max: 20_000 })
    const calls = [{ id: '1', name: 'f', arguments: '{}' }]
    await enqueuer.enqueue(requestOf([observation({ tool_calls: calls, ...about })]))
    const [read] = observationsIn(messages)
    expect(read).toMatchObject({ input: '', output: '', content_state: 'dropped' })
    expect(read?.tool_calls).toEqual(keepsCalls ? calls : [])
    expect((await metrics.expose()).body).toContain('looptrace_enqueue_content_dropped_total 1')
  })

  test('is rejected when the rest does not fit either; the others are accepted', async () => {
    const { enqueuer, messages, entries } = enqueuerOf({ message_bytes_max: 20_000 })
    const refused: unknown[] = []
    const huge = observation({ attributes: ['a', noise()] })
    await enqueuer.enqueue(requestOf([huge, observation()]), {
      on_refused: (...about) => refused.push(about),
    })
    expect(refused).toEqual([['observations', 0, 'too_large']])
    expect(observationsIn(messages)).toHaveLength(1)
    expect(entries.map(({ items, rejected }) => [items, rejected])).toEqual([
      [1, {}],
      [1, { too_large: 1 }],
    ])
  })
})

test('only the row with a value that does not fit its column is rejected', async () => {
  const { enqueuer, messages, entries } = enqueuerOf()
  const refused: unknown[] = []
  const [good, bad] = [observation(), observation({ trace_id: 'no uuid' })]
  await enqueuer.enqueue(requestOf([good, bad, observation({ request_bytes: -1 }), good]), {
    on_refused: (...about) => refused.push(about),
  })
  expect(refused).toEqual([
    ['observations', 1, 'not_encodable'],
    ['observations', 2, 'not_encodable'],
  ])
  expect(observationsIn(messages)).toHaveLength(2)
  expect(entries.at(-1)).toMatchObject({ items: 2, rejected: { not_encodable: 2 } })
})

describe('a publish that fails', () => {
  test.each([
    ['QueueUnavailable', new QueueUnavailable('full', { reason: 'full' }), 2],
    ['MessageTooLarge', new MessageTooLarge('no'), 1],
  ])('%s fails only the requests with rows in it', async (_, failure, tries) => {
    let tried = 0
    const { enqueuer, entries } = enqueuerOf({
      publish: async ({ subject }) => {
        if (!subject.includes(projects[0] ?? '')) return
        tried += 1
        throw failure
      },
    })
    const lost = [requestOf([observation()]), requestOf([observation()])]
    const kept = requestOf([observation()], { project_id: otherProject })
    const answers = await Promise.allSettled([...lost, kept].map((each) => enqueuer.enqueue(each)))
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    const [first] = answers
    const error = first?.status === 'rejected' ? first.reason : undefined
    expect(error).toBeInstanceOf(Problem)
    expect(error).toMatchObject({ code: 'overloaded', retry_after_s: 2, cause: failure })
    expect(tried).toBe(tries)
    expect(entries.map(({ ingest_request_id }) => ingest_request_id)).toEqual([
      kept.ingest_request_id,
    ])
  })
})

describe('a queue that stalls', () => {
  test('holds at most the window, and continues with everything afterwards', async () => {
    const stalled = Promise.withResolvers<void>()
    let waiting_bytes = 0
    let waiting = 0
    const { enqueuer, messages } = enqueuerOf({
      frame_bytes: 8_000,
      window: { messages_max: 4, bytes_max: 1_000_000 },
      publish: async ({ data }) => {
        waiting += 1
        waiting_bytes += data.length
        await stalled.promise
      },
    })
    const requests = Array.from({ length: 6 }, () =>
      requestOf(Array.from({ length: 100 }, () => observation({ input: 'y'.repeat(500) }))),
    )
    const answers = Promise.all(requests.map((each) => enqueuer.enqueue(each)))
    await sleep(30)
    expect(waiting).toBeLessThanOrEqual(5)
    expect(waiting_bytes).toBeLessThanOrEqual(5 * 8_000)
    stalled.resolve()
    await answers
    expect(observationsIn(messages)).toHaveLength(600)
  })

  test('a request over the limit is refused at once; a single large request is not', async () => {
    const stalled = Promise.withResolvers<void>()
    const { enqueuer, metrics } = enqueuerOf({
      inflight_bytes_max: 10_000,
      publish: () => stalled.promise,
    })
    const large = enqueuer.enqueue(requestOf([observation({ input: 'z'.repeat(20_000) })]))
    await expect(enqueuer.enqueue(requestOf([observation()]))).rejects.toMatchObject({
      code: 'overloaded',
      retry_after_s: 2,
    })
    expect((await metrics.expose()).body).toMatch(/looptrace_enqueue_inflight_bytes 2\d{4}/)
    stalled.resolve()
    await large
    expect((await metrics.expose()).body).toContain('looptrace_enqueue_inflight_bytes 0')
    expect(await enqueuer.enqueue(requestOf([observation()]))).toBe(1)
  })
})

describe('close', () => {
  test('publishes open frames at once, then refuses', async () => {
    const { enqueuer, messages } = enqueuerOf({ frame_age_ms: 60_000 })
    const answers = [1, 2].map(() => enqueuer.enqueue(requestOf([observation()])))
    await enqueuer.close()
    expect(messages).toHaveLength(1)
    expect(await Promise.all(answers)).toEqual([1, 1])
    await expect(enqueuer.enqueue(requestOf([observation()]))).rejects.toMatchObject({
      code: 'shutting_down',
    })
  })

  test('flush resolves at once when nothing is in flight', async () => {
    await enqueuerOf().enqueuer.flush()
  })
})
