import { expect, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { createLogger, createMetrics } from '../telemetry/index.ts'
import { columnarMeters, openCircuitBreaker, type ProbeResult } from './circuit-breaker.ts'
import { ColumnarUnavailable } from './contract.ts'

/** A breaker whose reads are suspect at once, and whose probes are answered by the test. */
function breakerWith() {
  const metrics = createMetrics()
  const waiting: ((result: ProbeResult) => void)[] = []
  let probes = 0
  const breaker = openCircuitBreaker({
    logger: createLogger({ role: 'test', level: 'silent' }),
    meters: columnarMeters(metrics),
    limits: { suspect_ms: 0, silent_probes_max: 3, rest_ms: 0 },
    probe: () => {
      probes += 1
      return new Promise((resolve) => waiting.push(resolve))
    },
  })
  return {
    breaker,
    metrics,
    probes: () => probes,
    waiting,
    /** Answers the next probe, and waits until the breaker has taken the result. */
    answer: async (result: ProbeResult) => {
      const next = await eventually('it probes', () => waiting.shift())
      next(result)
      await new Promise(setImmediate)
    },
  }
}

/** Starts a read that ends when the test says so. */
function hang({ breaker }: ReturnType<typeof breakerWith>) {
  const read = Promise.withResolvers<string>()
  const ended = breaker.run(() => read.promise)
  ended.catch(() => undefined)
  return { ...read, ended }
}

test('opens after three unanswered probes, refuses reads, and closes when a probe is answered', async () => {
  const given = breakerWith()
  const { breaker, answer, metrics } = given
  hang(given)
  for (const isOpen of [false, false, true]) {
    await answer('silent')
    expect(breaker.isOpen).toBe(isOpen)
  }
  let ran = false
  const refused = breaker.run(async () => {
    ran = true
  })
  await expect(refused).rejects.toBeInstanceOf(ColumnarUnavailable)
  await expect(refused).rejects.toMatchObject({ isSent: false })
  expect(ran).toBe(false)
  const { body } = await metrics.expose()
  expect(body).toContain('looptrace_clickhouse_answers 0')
  expect(body).toContain('looptrace_clickhouse_reads_refused_total 1')
  await answer('failed')
  await answer('silent')
  expect(breaker.isOpen).toBe(true)
  await answer('answered')
  expect(breaker.isOpen).toBe(false)
  expect(await breaker.run(async () => 'read')).toBe('read')
  expect((await metrics.expose()).body).toContain('looptrace_clickhouse_answers 1')
})

test('opens again when the server hangs again', async () => {
  const given = breakerWith()
  for (let round = 0; round < 2; round += 1) {
    hang(given)
    for (let probe = 0; probe < 3; probe += 1) await given.answer('silent')
    expect(given.breaker.isOpen).toBe(true)
    await given.answer('answered')
    expect(given.breaker.isOpen).toBe(false)
  }
})

test('many reads that wait make one probe at a time, and an answer to it ends the suspicion', async () => {
  const given = breakerWith()
  const reads = Array.from({ length: 50 }, () => hang(given))
  await eventually('it probes', () => given.waiting.length === 1)
  await given.answer('silent')
  await eventually('it probes again', () => given.waiting.length === 1)
  await given.answer('answered')
  expect([given.breaker.isOpen, given.probes()]).toEqual([false, 2])
  for (const read of reads) read.resolve('late')
  expect(await Promise.all(reads.map(({ ended }) => ended))).toHaveLength(50)
})

test('a broken connection does not open it: reads notice that themselves', async () => {
  const given = breakerWith()
  hang(given)
  await given.answer('silent')
  await given.answer('failed')
  await new Promise(setImmediate)
  expect([given.breaker.isOpen, given.waiting.length]).toEqual([false, 0])
})

test('an answered read counts like an answered probe', async () => {
  const given = breakerWith()
  hang(given)
  await given.answer('silent')
  await given.answer('silent')
  await given.breaker.run(async () => undefined)
  await given.answer('silent')
  await given.answer('silent')
  expect(given.breaker.isOpen).toBe(false)
  await given.answer('silent')
  expect(given.breaker.isOpen).toBe(true)
})

test('a read that fails before it is suspect makes no probe', async () => {
  const given = breakerWith()
  const failed = given.breaker.run(() => Promise.reject(new Error('refused')))
  await expect(failed).rejects.toThrow('refused')
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(given.probes()).toBe(0)
})

test('stops', async () => {
  const given = breakerWith()
  hang(given)
  await given.answer('silent')
  const stopped = given.breaker.stop()
  await given.answer('silent')
  await stopped
  expect(given.waiting).toEqual([])
})
