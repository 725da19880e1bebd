import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attachWaiting, feedbackMeters } from '../../src/capabilities/feedback/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type FeedbackApi, openFeedbackApi, type Reply } from '../support/feedback-api.ts'

let api: FeedbackApi
let project: string
beforeAll(async () => {
  api = await openFeedbackApi({ limits: { pending_max: 6, items_of_task_max: 4 } })
})
beforeAll(async () => {
  project = await api.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const outcome = ({ status, body }: Reply) => [status, body?.code]
const hour_ms = 3_600_000
const rows = (task_id: string) =>
  api.db
    .selectFrom('feedback')
    .select(['feedback_id', 'task_id', 'state', 'counts'])
    .where('task_id', '=', task_id)
    .orderBy('created_at')
    .execute()

describe('feedback for a task that was not seen', () => {
  test('waits, is listed, can be edited, and is attached when the task comes', async () => {
    const task_id = newId()
    const first = await api.give(project, task_id, { thumbs: 'down', user_id: 'u' })
    api.clock.ms += 1
    const last = await api.give(project, task_id, { thumbs: 'up', user_id: 'u' })
    expect([first.body.state, first.body.counts]).toEqual(['pending', false])
    const path = `${task_id}/feedback/${last.body.feedback_id}`
    const edited = await api.call('PUT', project, path, { body: { rating: 3 } })
    expect(edited.body).toMatchObject({ state: 'pending', sentiment: 'neutral', counts: false })
    const listed = await api.call('GET', project, `${task_id}/feedback?state=pending`)
    expect(listed.body.total).toBe(2)
    await api.attach()
    expect(await api.counted(project)).toEqual([])
    await api.newTask(project, { task_id, name: 'late' })
    api.clock.ms += 10_000
    await api.attach()
    expect(await rows(task_id)).toMatchObject([
      { state: 'attached', counts: false },
      { state: 'attached', counts: true },
    ])
    expect(await api.counted(project, 'task_name')).toEqual(['end_user late 0 1 0'])
    await api.attach()
    expect(await api.counted(project, 'task_name')).toEqual(['end_user late 0 1 0'])
  })

  test('is attached by the next feedback of the task too', async () => {
    const own = await api.newProject()
    const task_id = newId()
    await api.give(own, task_id, { thumbs: 'down', user_id: 'a' })
    await api.newTask(own, { task_id })
    const next = await api.give(own, task_id, { thumbs: 'up', user_id: 'b' })
    expect(next.body.state).toBe('attached')
    expect(await api.counted(own)).toEqual(['end_user  1 0 1'])
  })

  test('withdrawn meanwhile does not count', async () => {
    const own = await api.newProject()
    const task_id = newId()
    const made = await api.give(own, task_id, { thumbs: 'down' })
    await api.call('DELETE', own, `${task_id}/feedback/${made.body.feedback_id}`)
    await api.newTask(own, { task_id })
    api.clock.ms += 60_000
    await api.attach()
    expect(await rows(task_id)).toMatchObject([{ state: 'withdrawn', counts: false }])
    expect(await api.counted(own)).toEqual([])
  })

  test('by the other spelling of a trace id moves to the implicit task', async () => {
    const own = await api.newProject()
    const trace_id = newId()
    const spelled = trace_id.replaceAll('-', '')
    await api.give(own, spelled, { thumbs: 'down', user_id: 'a', feedback_id: 'x' })
    await api.give(own, spelled, { thumbs: 'down', user_id: 'b', feedback_id: 'y' })
    await api.newTask(own, { task_id: trace_id, implicit: true })
    // The row of the task has an item of its own by now.
    await api.give(own, trace_id, { thumbs: 'up', user_id: 'c', feedback_id: 'x' })
    api.clock.ms += 60_000
    await api.attach()
    const listed = await api.call('GET', own, `${spelled}/feedback`)
    expect(listed.body.total).toBe(2)
    expect(await api.counted(own)).toEqual(['end_user  1 0 1'])
  })

  test('is dropped after 24 hours, and counted', async () => {
    const own = await api.newProject()
    const task_id = newId()
    const metrics = createMetrics()
    await api.give(own, task_id, { thumbs: 'down' })
    await api.give(own, task_id, { comment: 'c' })
    const attach = () =>
      attachWaiting({
        ...{ db: api.db, clock: { now_ms: () => api.clock.ms } },
        logger: createLogger({ role: 'test', level: 'silent' }),
        meters,
      })
    const meters = feedbackMeters(metrics)
    api.clock.ms += 23 * hour_ms
    await attach()
    expect(await rows(task_id)).toHaveLength(2)
    api.clock.ms += 1.2 * hour_ms
    await attach()
    expect(await rows(task_id)).toEqual([])
    const reply = await api.call('GET', own, `${task_id}/feedback`)
    expect(outcome(reply)).toEqual([404, 'task_not_found'])
    const drops = api.db.selectFrom('feedback_drops').select(['reason', 'items'])
    expect(await drops.where('project_id', '=', own).execute()).toEqual([
      { reason: 'task_not_seen', items: 2 },
    ])
    expect((await metrics.expose()).body).toMatch(/looptrace_feedback_dropped_total 2/)
  })

  test('waits in limited numbers for each project', async () => {
    const own = await api.newProject()
    const replies: unknown[] = []
    for (let at = 0; at < 8; at += 1) {
      replies.push(outcome(await api.give(own, newId(), { thumbs: 'up' })))
    }
    expect(replies.slice(5)).toEqual([
      [201, undefined],
      [429, 'feedback_queue_full'],
      [429, 'feedback_queue_full'],
    ])
    const other = await api.newProject()
    expect((await api.give(other, newId(), { thumbs: 'up' })).status).toBe(201)
    // Items of tasks that were seen do not wait.
    expect((await api.give(own, await api.newTask(own), { thumbs: 'up' })).status).toBe(201)
  })
})

test('a task has a limited number of items', async () => {
  const own = await api.newProject()
  const task_id = await api.newTask(own)
  const replies = await Promise.all(
    Array.from({ length: 9 }, (_, at) =>
      api.give(own, task_id, { thumbs: 'up', user_id: `${at}` }),
    ),
  )
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(4)
  const refused = replies.filter(({ status }) => status === 409)
  expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['limit_reached']))
})

test('deleting a task deletes its feedback and keeps the counts of hours', async () => {
  const own = await api.newProject()
  const task_id = await api.newTask(own)
  await api.give(own, task_id, { thumbs: 'down', comment: 'c' })
  await api.db.deleteFrom('tasks').where('task_id', '=', task_id).execute()
  expect(await rows(task_id)).toEqual([])
  expect(await api.counted(own)).toEqual(['end_user  1 0 0'])
})

test('deleting a project deletes all of its feedback', async () => {
  const own = await api.newProject()
  await api.give(own, await api.newTask(own), { thumbs: 'down' })
  await api.db.deleteFrom('projects').where('id', '=', own).execute()
  for (const table of [
    'feedback',
    'feedback_tasks',
    'feedback_revisions',
    'feedback_hours',
  ] as const) {
    const found = await api.db
      .selectFrom(table)
      .select('project_id')
      .where('project_id', '=', own)
      .execute()
    expect([table, found]).toEqual([table, []])
  }
})
