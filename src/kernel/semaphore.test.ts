import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

test('serves waiting callers in order of arrival', async () => {
  const semaphore = new Semaphore({ permits_max: 1 })
  const begun: number[] = []
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const ends = gates.map(({ promise }, index) =>
    semaphore.run(async () => {
      begun.push(index)
      await promise
      return index
    }),
  )
  expect(begun).toEqual([0])
  gates[2]?.resolve()
  gates[0]?.resolve()
  expect(await ends[0]).toBe(0)
  await new Promise(setImmediate)
  expect(begun).toEqual([0, 1])
  gates[1]?.resolve()
  expect(await Promise.all(ends)).toEqual([0, 1, 2])
  expect(semaphore.held).toBe(0)
})

test('gives the permit back when the work fails', async () => {
  const semaphore = new Semaphore({ permits_max: 1 })
  await expect(semaphore.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await semaphore.run(async () => 'yes')).toBe('yes')
})

test('rejects a caller when too many wait', async () => {
  const refusal = () => new Error('full')
  const semaphore = new Semaphore({ permits_max: 1, waiting: { max: 1, refusal } })
  await semaphore.acquire()
  const second = semaphore.acquire()
  await expect(semaphore.acquire()).rejects.toThrow('full')
  semaphore.release()
  await second
  expect(semaphore.held).toBe(1)
})

test('a release without a permit is an error', () => {
  expect(() => new Semaphore({ permits_max: 1 }).release()).toThrow('was not held')
})

describe('an abort signal', () => {
  test('ends the wait with its reason, and the next caller moves up', async () => {
    const semaphore = new Semaphore({ permits_max: 1 })
    await semaphore.acquire()
    const leaving = new AbortController()
    const left = semaphore.acquire(leaving.signal)
    const next = semaphore.acquire()
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    semaphore.release()
    await next
    expect(semaphore.held).toBe(1)
  })

  test('that aborted before refuses the wait, but not a free permit', async () => {
    const semaphore = new Semaphore({ permits_max: 1 })
    const signal = AbortSignal.abort(new Error('left'))
    await semaphore.acquire(signal)
    await expect(semaphore.acquire(signal)).rejects.toThrow('left')
    semaphore.release()
    expect(semaphore.held).toBe(0)
  })

  test('that aborts after the permit was given changes nothing', async () => {
    const semaphore = new Semaphore({ permits_max: 1 })
    await semaphore.acquire()
    const late = new AbortController()
    const granted = semaphore.acquire(late.signal)
    semaphore.release()
    const next = semaphore.acquire()
    late.abort(new Error('left'))
    await granted
    semaphore.release()
    await next
    expect(semaphore.held).toBe(1)
  })
})

type Limits = { permits_max: number; waiting_max: number }
type Step = { step: 'acquire' | 'release' | 'abort'; at: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ step: fc.constantFrom('acquire', 'acquire', 'release', 'abort'), at: fc.nat(5) }),
  { maxLength: 60 },
)

/** The same rules on plain arrays; `log` is the expected sequence of outcomes. */
class NaiveModel {
  readonly log: string[] = []
  readonly queue: number[] = []
  held = 0

  take({ step, at }: Step, id: number, limits: Limits): void {
    if (step === 'acquire') this.#acquire(id, limits)
    if (step === 'abort') this.log.push(...this.queue.splice(at, 1).map((left) => `${left} left`))
    if (step === 'release') this.#release()
  }

  #acquire(id: number, { permits_max, waiting_max }: Limits): void {
    if (this.held < permits_max) {
      this.held += 1
      this.log.push(`${id} granted`)
    } else if (this.queue.length < waiting_max) this.queue.push(id)
    else this.log.push(`${id} full`)
  }

  #release(): void {
    const next = this.queue.shift()
    if (next !== undefined) this.log.push(`${next} granted`)
    else if (this.held > 0) this.held -= 1
  }
}

const numbers = [fc.integer({ min: 1, max: 4 }), fc.nat(4)] as const

test('grants as a naive queue does, and never more permits than the limit', async () => {
  const scenario = fc.asyncProperty(...numbers, steps, async (permits_max, waiting_max, plan) => {
    const refusal = () => new Error('full')
    const semaphore = new Semaphore({ permits_max, waiting: { max: waiting_max, refusal } })
    const model = new NaiveModel()
    const callers = new Map<number, AbortController>()
    const log: string[] = []
    for (const [id, one] of plan.entries()) {
      const leaving = model.queue[one.at] ?? Number.NaN
      if (one.step === 'abort') callers.get(leaving)?.abort(new Error('left'))
      if (one.step === 'release' && model.held > 0) semaphore.release()
      if (one.step === 'acquire') {
        const caller = new AbortController()
        callers.set(id, caller)
        semaphore.acquire(caller.signal).then(
          () => log.push(`${id} granted`),
          (error: Error) => log.push(`${id} ${error.message}`),
        )
      }
      model.take(one, id, { permits_max, waiting_max })
      await new Promise(setImmediate)
      expect(log).toEqual(model.log)
      expect(semaphore.held).toBe(model.held)
      expect(semaphore.held).toBeLessThanOrEqual(permits_max)
    }
  })
  await fc.assert(scenario)
})
