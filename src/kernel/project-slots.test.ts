import { expect, test } from 'vitest'
import { openProjectSlots } from './project-slots.ts'

const project_id = 'p1'
const limits = { work: 'queries', running_max: 1, waiting_max: 1, wait_ms_max: 60_000 }

function gate() {
  return Promise.withResolvers<void>()
}

test('one query runs, one waits, the next is refused; other projects are not affected', async () => {
  const slots = openProjectSlots(limits)
  const signal = new AbortController().signal
  const [first, second] = [gate(), gate()]
  const begun: string[] = []
  const take = (name: string, until: Promise<void>, of = project_id) =>
    slots.take({ project_id: of, signal }, async () => {
      begun.push(name)
      await until
      return name
    })
  const one = take('one', first.promise)
  const two = take('two', second.promise)
  await expect(take('three', second.promise)).rejects.toMatchObject({
    code: 'rate_limited',
    retry_after_s: 1,
    message: 'Limit reached: queries of a project at one time: 1. Try again shortly.',
  })
  expect(await take('other', Promise.resolve(), 'p2')).toBe('other')
  expect(begun).toEqual(['one', 'other'])
  first.resolve()
  expect(await one).toBe('one')
  second.resolve()
  expect(await two).toBe('two')
})

test('a query that waits too long or aborts gives its slot to the next', async () => {
  const slots = openProjectSlots({ ...limits, wait_ms_max: 1 })
  const running = gate()
  const signal = new AbortController().signal
  const one = slots.take({ project_id, signal }, () => running.promise)
  await expect(slots.take({ project_id, signal }, async () => 1)).rejects.toMatchObject({
    code: 'rate_limited',
  })
  const leaving = new AbortController()
  const patient = openProjectSlots(limits)
  const held = patient.take({ project_id, signal }, () => running.promise)
  const left = patient.take({ project_id, signal: leaving.signal }, async () => 1)
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  const next = patient.take({ project_id, signal }, async () => 2)
  running.resolve()
  await Promise.all([one, held])
  expect(await next).toBe(2)
})

test('work that fails releases its slot', async () => {
  const slots = openProjectSlots({ ...limits, waiting_max: 0 })
  const signal = new AbortController().signal
  const failed = slots.take({ project_id, signal }, () => Promise.reject(new Error('no')))
  await expect(failed).rejects.toThrow('no')
  expect(await slots.take({ project_id, signal }, async () => 1)).toBe(1)
})
