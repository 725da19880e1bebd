import { expect, test } from 'vitest'
import { openStatementSlots } from './statement-slots.ts'

const limits = { running_max: 2, waiting_max: 1, refusal: (detail: string) => new Error(detail) }

test('runs and queues statements up to the limits, in order, and refuses the rest', async () => {
  const slots = openStatementSlots(limits)
  const begun: number[] = []
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const work = (index: number) =>
    slots.run(async () => {
      begun.push(index)
      await gates[index]?.promise
      return index
    })
  const [first, second, third] = [work(0), work(1), work(2)]
  await expect(work(3)).rejects.toThrow('2 statements run and 1 wait')
  expect(begun).toEqual([0, 1])
  gates[1]?.resolve()
  expect(await second).toBe(1)
  gates[2]?.resolve()
  expect(await third).toBe(2)
  expect(begun).toEqual([0, 1, 2])
  gates[0]?.resolve()
  expect(await first).toBe(0)
})

test('a failed statement frees its slot', async () => {
  const slots = openStatementSlots({ ...limits, running_max: 1 })
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await slots.run(async () => 'yes')).toBe('yes')
})

test('close refuses new statements and waits for accepted ones, with a time limit', async () => {
  const slots = openStatementSlots(limits)
  const gate = Promise.withResolvers<void>()
  let ended = false
  const running = slots.run(() => gate.promise).then(() => (ended = true))
  const closing = slots.close(60_000)
  await expect(slots.run(async () => 1)).rejects.toThrow('the server is stopping')
  gate.resolve()
  expect(await closing).toBe(true)
  await running
  expect(ended).toBe(true)

  const stuck = openStatementSlots(limits)
  stuck.run(() => new Promise<void>(() => undefined)).catch(() => undefined)
  expect(await stuck.close(1)).toBe(false)
})
