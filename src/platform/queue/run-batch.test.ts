import { expect, test } from 'vitest'
import { backOff } from '../../kernel/back-off.ts'
import type { ConsumeOptions, Delivery } from './contract.ts'
import { QueueUnavailable } from './contract.ts'
import { type QueueLogger, queueJitter, runBatch, waitLeft } from './run-batch.ts'

const rule = { base_ms: 100, max_ms: 2_000, jitter: queueJitter }
const options: ConsumeOptions = {
  kind: 'ingest',
  batch_messages_max: 10,
  batch_bytes_max: 1_000,
  batch_wait_ms: 0,
  ack_wait_ms: 60_000,
  attempts_max: 3,
  backoff_ms_min: 8,
  backoff_ms_max: 8,
}

/** Creates a delivery that records its calls. Settling a `failing` delivery rejects. */
function recorded(id: string, attempt: number, failing = false) {
  const said: string[] = []
  const say = async (word: string) => {
    if (failing) throw new QueueUnavailable('away')
    said.push(word)
  }
  const delivery: Delivery = {
    id,
    attempt,
    subject: 'ingest.p',
    data: new Uint8Array(),
    ack: () => say('ack'),
    retry: (delay_ms) => say(delay_ms > 5 && delay_ms <= 8 ? 'retry' : `retry ${delay_ms}`),
    bury: (reason) => say(`bury ${reason}`),
  }
  return { said, delivery }
}

function loggerOf(lines: string[]): QueueLogger {
  const keep = (_about: object, message: string) => void lines.push(message)
  return { info: keep, warn: keep, error: keep }
}

test('the back-off doubles up to its bound, with jitter down to three quarters', () => {
  expect([1, 2, 3, 4, 5, 6, 2_000].map((attempt) => backOff(rule, attempt, () => 0))).toEqual([
    100, 200, 400, 800, 1_600, 2_000, 2_000,
  ])
  expect(backOff(rule, 2, () => 1)).toBe(150)
})

test('after an error, returns unsettled deliveries and dead-letters last attempts', async () => {
  const [acked, first, last] = [recorded('a', 1), recorded('b', 2), recorded('c', 3)]
  await runBatch({
    deliveries: [acked.delivery, first.delivery, last.delivery],
    handler: async ([delivery]) => {
      await delivery?.ack()
      throw new Error('broken')
    },
    options,
    signal: new AbortController().signal,
    logger: loggerOf([]),
  })
  expect([acked.said, first.said, last.said]).toEqual([['ack'], ['retry'], ['bury Error: broken']])
})

test('without an error, leaves unsettled deliveries alone', async () => {
  const left = recorded('a', 1)
  const handler = async () => undefined
  const signal = new AbortController().signal
  await runBatch({ deliveries: [left.delivery], handler, options, signal, logger: loggerOf([]) })
  expect(left.said).toEqual([])
})

test('a failed ack leaves the delivery unsettled and does not reject', async () => {
  const failing = recorded('a', 1, true)
  const lines: string[] = []
  await runBatch({
    deliveries: [failing.delivery],
    handler: async ([delivery]) => delivery?.ack(),
    options,
    signal: new AbortController().signal,
    logger: loggerOf(lines),
  })
  expect(lines).toEqual(['a batch failed', 'a delivery could not be returned'])
})

test('cuts a reason to the size limit of a header', async () => {
  const { delivery, said } = recorded('a', 1)
  await runBatch({
    deliveries: [delivery],
    handler: async ([one]) => one?.bury('x'.repeat(10_000)),
    options,
    signal: new AbortController().signal,
    logger: loggerOf([]),
  })
  expect(said[0]).toHaveLength('bury '.length + 500)
})

test('the signal is aborted at once when the queue is closing', async () => {
  const closing = new AbortController()
  closing.abort()
  let aborted = false
  await runBatch({
    deliveries: [recorded('a', 1).delivery],
    handler: async (_batch, signal) => {
      aborted = signal.aborted
    },
    options,
    signal: closing.signal,
    logger: loggerOf([]),
  })
  expect(aborted).toBe(true)
})

test.each([
  ['just came', 5_000, 1_000],
  ['waited for a consumer', 4_300, 300],
  ['waited longer than a batch does', 1_000, 0],
  ['has a clock that is ahead', 9_000, 1_000],
])('a batch whose first message %s', (_what, first_ms, left_ms) => {
  expect(waitLeft(1_000, first_ms, 5_000)).toBe(left_ms)
})
