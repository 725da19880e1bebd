import { expect, test } from 'vitest'
import { openTurns } from './turns.ts'

const limits = { running_max: 2, waiting_max: 1, refusal: (detail: string) => new Error(detail) }

test('so many run, so many wait in order, the rest is refused', async () => {
  const turns = openTurns(limits)
  const begun: number[] = []
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const work = (index: number) =>
    turns.take(async () => {
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

test('work that fails gives its turn back', async () => {
  const turns = openTurns({ ...limits, running_max: 1 })
  await expect(turns.take(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await turns.take(async () => 'yes')).toBe('yes')
})

test('closing takes nothing new and waits for what is here, but not for ever', async () => {
  const turns = openTurns(limits)
  const gate = Promise.withResolvers<void>()
  let ended = false
  const running = turns.take(() => gate.promise).then(() => (ended = true))
  const closing = turns.close(60_000)
  await expect(turns.take(async () => 1)).rejects.toThrow('the server is stopping')
  gate.resolve()
  expect(await closing).toBe(true)
  await running
  expect(ended).toBe(true)

  const stuck = openTurns(limits)
  stuck.take(() => new Promise<void>(() => undefined)).catch(() => undefined)
  expect(await stuck.close(1)).toBe(false)
})
