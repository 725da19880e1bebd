import { describe, expect, test } from 'vitest'
import { observationOf } from '../../../../test/support/observations.ts'
import { lateStart, type TaskState, taskStateAfter } from './task-state.ts'
import type { TouchedTask } from './touched.ts'

const at = (s: number) => Date.parse('2026-03-01T12:00:00.000Z') + s * 1_000
const iso = (s: number) => new Date(at(s)).toISOString()
const running: TaskState = {
  implicit: false,
  state: 'running',
  ended_at: null,
  ended_by: null,
  late_activity: false,
}
const completed: TaskState = {
  ...running,
  state: 'completed',
  ended_at: iso(10),
  ended_by: 'user:u',
}
const ns = (instant_ms: number) => BigInt(instant_ms) * 1_000_000n
const touched = ({
  starts_ms = [at(0)],
  ended_ms = at(1),
  last_status = 'ok',
}: {
  starts_ms?: number[]
  ended_ms?: number
  last_status?: TouchedTask['last_status']
}): TouchedTask => ({
  project_id: 'p',
  task_id: 't',
  rows: starts_ms.map((start_ms) => observationOf({ project_id: 'p', start_time: ns(start_ms) })),
  last_end: ns(ended_ms),
  last_status,
})

test('a task with an id of its own runs until it is ended', () => {
  expect(taskStateAfter(running, touched({ last_status: 'error' }), { implicit: false })).toEqual(
    running,
  )
})

describe('a task that was ended explicitly', () => {
  test('stays ended; a call that began before is not late', () => {
    const before = touched({ starts_ms: [at(9), at(10)], ended_ms: at(20) })
    expect(taskStateAfter(completed, before, { implicit: false })).toEqual(completed)
    expect(lateStart(completed, before)).toBeUndefined()
  })

  test('remembers a call that began afterwards', () => {
    const after = touched({ starts_ms: [at(30), at(9), at(20)] })
    expect(taskStateAfter(completed, after, { implicit: false })).toEqual({
      ...completed,
      late_activity: true,
    })
    expect(lateStart(completed, after)).toBe(at(20))
  })

  test('keeps that record', () => {
    const late = { ...completed, late_activity: true }
    expect(taskStateAfter(late, touched({}), { implicit: false })).toEqual(late)
  })
})

describe('a task that is a single trace', () => {
  const fresh: TaskState = { ...running, implicit: true }
  const byCall = (state: TaskState['state'], s: number): TaskState => ({
    ...fresh,
    state,
    ended_at: iso(s),
    ended_by: 'call',
  })
  const implicit = { implicit: true }

  test.each([
    ['ok', 'completed'],
    ['error', 'failed'],
    ['cancelled', 'failed'],
  ] as const)('a last call that is %s makes it %s', (last_status, state) => {
    const batch = touched({ ended_ms: at(5), last_status })
    expect(taskStateAfter(fresh, batch, implicit)).toEqual(byCall(state, 5))
  })

  test('follows a later call, not an earlier one that arrives later', () => {
    const failed = byCall('failed', 5)
    expect(taskStateAfter(failed, touched({ ended_ms: at(7) }), implicit)).toEqual(
      byCall('completed', 7),
    )
    expect(taskStateAfter(failed, touched({ ended_ms: at(3) }), implicit)).toEqual(failed)
    expect(lateStart(failed, touched({ starts_ms: [at(6)] }))).toBeUndefined()
  })

  test('the same batch again changes nothing', () => {
    const batch = touched({ ended_ms: at(5), last_status: 'error' })
    const once = taskStateAfter(fresh, batch, implicit)
    expect(taskStateAfter(once, batch, implicit)).toEqual(once)
  })

  test('runs again once a call names it', () => {
    expect(taskStateAfter(byCall('completed', 5), touched({}), { implicit: false })).toEqual(
      running,
    )
  })
})
