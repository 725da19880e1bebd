import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  attachWaiting,
  type FeedbackDb,
  feedbackMeters,
  defaultFeedbackLimits as limits,
  openFeedbackRetention,
} from '../../src/capabilities/feedback/index.ts'
import { createItem } from '../../src/capabilities/feedback/items/change-items.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'
import { type FeedbackApi, openFeedbackApi } from '../support/feedback-api.ts'
import { countBlocked } from '../support/row-locks.ts'

let api: FeedbackApi
beforeAll(async () => {
  api = await openFeedbackApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** Thrown at a statement in the place of a killed process: nothing after it happens. */
class Killed extends Error {}

/** The database of a process that is killed before its statement with this number. */
function killedAt(statement: number): FeedbackDb {
  let count = 0
  return api.db.withPlugin({
    transformQuery: ({ node }: { node: unknown }) => {
      count += 1
      if (count >= statement) throw new Killed(`killed at statement ${statement}`)
      return node as never
    },
    transformResult: async ({ result }: { result: unknown }) => result as never,
  }) as never
}

const logger = createLogger({ role: 'test', level: 'silent' })
const work = (db: FeedbackDb) =>
  attachWaiting({
    ...{ db, logger, clock: { now_ms: () => api.clock.ms } },
    meters: feedbackMeters(createMetrics()),
  })

/** Feedback of two users that waits for a task which has come since. */
async function waiting() {
  const project_id = await api.newProject()
  const spelled = newId()
  const task_id = spelled
  await api.give(project_id, task_id, { thumbs: 'down', user_id: 'a' })
  await api.give(project_id, spelled.replaceAll('-', ''), { thumbs: 'up', user_id: 'b' })
  await api.newTask(project_id, { task_id, implicit: true })
  api.clock.ms += 60_000
  return { project_id, task_id }
}

test('a worker killed at any statement leaves feedback waiting or attached, and the next attaches it once', async () => {
  let completed = false
  for (let statement = 1; !completed; statement += 1) {
    const { project_id, task_id } = await waiting()
    const result = await work(killedAt(statement)).catch((error: unknown) => error)
    completed = !(result instanceof Killed)
    const between = await api.db
      .selectFrom('feedback')
      .select(['state', 'counts'])
      .where('project_id', '=', project_id)
      .execute()
    for (const { state, counts } of between) expect(counts).toBe(state === 'attached')
    await work(api.db as never)
    const after = await api.db
      .selectFrom('feedback_tasks')
      .select(['task_id', 'items', 'negative', 'positive', 'attached'])
      .where('project_id', '=', project_id)
      .execute()
    expect(after).toEqual([{ task_id, items: 2, negative: 1, positive: 1, attached: true }])
    expect(await api.counted(project_id)).toEqual(['end_user  1 0 1'])
    expect(statement).toBeLessThan(40)
  }
})

test('workers at one time attach each item once', async () => {
  const { project_id } = await waiting()
  await Promise.all(Array.from({ length: 6 }, () => work(api.db as never)))
  await work(api.db as never)
  expect(await api.counted(project_id)).toEqual(['end_user  1 0 1'])
})

/** A vote of `ann` as a route hands it over. */
const voteOf = (project_id: string, task_id: string, rating: number) => ({
  ...{ project_id, task_id, feedback_id: newId(), subject: 'user:ann' },
  source: 'end_user' as const,
  ...{ user_id: 'ann', trace_id: null, at: new Date(api.clock.ms).toISOString() },
  ...{
    time_adjusted: false,
    by_browser: false,
    network_tag: null,
    actor: 'key:k',
    body_digest: Buffer.alloc(32),
  },
  value: {
    ...{ rating, thumbs: null, comment: null, correction: null },
    ...{ labels: [], metadata: {}, sentiment: null },
  },
})

test('a server killed while it stores feedback leaves nothing, and the retry stores one item', async () => {
  let completed = false
  for (let statement = 1; !completed; statement += 1) {
    const project_id = await api.newProject()
    const task_id = await api.newTask(project_id)
    const item = voteOf(project_id, task_id, 1)
    const store = (db: FeedbackDb) => createItem({ db, limits, now_ms: api.clock.ms }, item)
    const result = await store(killedAt(statement)).catch((error: unknown) => error)
    completed = !(result instanceof Killed)
    const { is_new } = await store(api.db as never)
    expect(is_new).toBe(!completed)
    expect(await api.counted(project_id)).toEqual(['end_user  1 0 0'])
    expect(statement).toBeLessThan(40)
  }
})

const sliceOf = (project_id: string) => ({
  ...{ project_id, kind: 'observations' as const, from: 0n, held_trace_ids: [] },
  to: BigInt(api.clock.ms) * 1_000_000n,
})

async function placeHold(project_id: string, kind: string, value: string): Promise<string> {
  const id = newId()
  const hold = { id, project_id, kind, value, reason: 'r', created_by: 'u', created_at: new Date() }
  await api.db
    .insertInto('legal_holds')
    .values(hold as never)
    .execute()
  return id
}

test('expired content takes the texts of feedback, also of earlier versions; votes stay', async () => {
  const retention = openFeedbackRetention({ db: api.db as never })
  const project_id = await api.newProject()
  const [task_id, held] = [await api.newTask(project_id), await api.newTask(project_id)]
  const texts = {
    rating: 1,
    comment: 'a secret',
    correction: 'a secret',
    metadata: { a: 'a secret' },
  }
  const made = await api.give(project_id, task_id, { ...texts, user_id: 'u' })
  const edit = { rating: 2 }
  await api.call('PUT', project_id, `${task_id}/feedback/${made.body.feedback_id}`, { body: edit })
  await api.give(project_id, task_id, { ...texts, user_id: 'v' })
  await api.give(project_id, held, texts)
  await placeHold(project_id, 'task', held)
  await retention.maskContent(sliceOf(project_id))
  const stored = async (task: string) =>
    JSON.stringify([
      await api.db.selectFrom('feedback').selectAll().where('task_id', '=', task).execute(),
      await api.db
        .selectFrom('feedback_revisions')
        .selectAll()
        .where('task_id', '=', task)
        .execute(),
    ])
  expect(await stored(task_id)).not.toContain('secret')
  expect(await stored(held)).toContain('secret')
  expect(await api.counted(project_id)).toEqual(['end_user  3 0 0'])
})

test('votes of an erased user do not identify the user', async () => {
  const retention = openFeedbackRetention({ db: api.db as never })
  const project_id = await api.newProject()
  const task_id = await api.newTask(project_id)
  const name = 'ann.user'
  const more = { comment: `by ${name}`, metadata: { name } }
  const made = await api.give(project_id, task_id, {
    rating: 1,
    user_id: name,
    feedback_id: name,
    ...more,
  })
  await api.call('PUT', project_id, `${task_id}/feedback/${name}`, { body: { rating: 2, ...more } })
  await api.give(project_id, task_id, { rating: 5, user_id: 'bob', comment: 'keep this' })
  const before = await api.counted(project_id)
  const erasure = { project_id, user_id: name, trace_ids: [], held_trace_ids: [] }
  await retention.eraseUser(erasure)
  await retention.eraseUser(erasure)
  const all = JSON.stringify([
    await api.db.selectFrom('feedback').selectAll().where('project_id', '=', project_id).execute(),
    await api.db
      .selectFrom('feedback_tasks')
      .selectAll()
      .where('project_id', '=', project_id)
      .execute(),
    await api.db
      .selectFrom('feedback_revisions')
      .selectAll()
      .where('project_id', '=', project_id)
      .execute(),
  ])
  expect(made.status).toBe(201)
  expect(all).not.toContain(name)
  expect(all).toContain('keep this')
  expect(await api.counted(project_id)).toEqual(before)
  const { body } = await api.call('GET', project_id, `${task_id}/feedback?counts=true`)
  expect(body.total).toBe(2)
  // The vote of the erased user cannot be moved by a new one of that name.
  await api.give(project_id, task_id, { rating: 5, user_id: name })
  expect(await api.counted(project_id)).toEqual(['end_user  1 0 2'])
})

/** A task in a conversation, with feedback of `ann` that names no trace. */
async function commented(seen = true) {
  const project_id = await api.newProject()
  const [task_id, conversation_id, external_id] = [newId(), newId(), `chat ${newId()}`]
  const at = new Date(api.clock.ms)
  await api.db
    .insertInto('conversations')
    .values({
      ...{ project_id, conversation_id, external_id },
      ...{ started_at: at, last_activity_at: at },
    } as never)
    .execute()
  if (seen) await api.newTask(project_id, { task_id, conversation_id })
  await api.give(project_id, task_id, { rating: 1, comment: 'a proof', user_id: 'ann' })
  return { project_id, task_id, conversation_id, external_id }
}

const commentOf = async (project_id: string) =>
  await api.db
    .selectFrom('feedback as item')
    .innerJoin('feedback_tasks as task', (join) =>
      join
        .onRef('task.project_id', '=', 'item.project_id')
        .onRef('task.task_id', '=', 'item.task_id'),
    )
    .select(['item.comment', 'item.user_id', 'task.cluster'])
    .where('item.project_id', '=', project_id)
    .executeTakeFirstOrThrow()

test.each([
  ['task', 'task_id', true],
  ['task', 'task_id', false],
  ['conversation', 'conversation_id', true],
  ['conversation', 'external_id', true],
] as const)(
  'an erasure leaves feedback under a hold of a %s by its %s, seen: %s, until its release',
  async (kind, value, seen) => {
    const retention = openFeedbackRetention({ db: api.db as never })
    const made = await commented(seen)
    const { project_id } = made
    const erasure = { project_id, user_id: 'ann', trace_ids: [], held_trace_ids: [] }
    const hold = await placeHold(project_id, kind, made[value])
    await placeHold(await api.newProject(), kind, made[value])
    await retention.eraseUser(erasure)
    const cluster = seen ? 'user:ann' : null
    expect(await commentOf(project_id)).toEqual({ comment: 'a proof', user_id: 'ann', cluster })
    expect(await retention.countHeld?.(erasure)).toBe(1)

    await api.db
      .updateTable('legal_holds')
      .set({ released_at: new Date() } as never)
      .where('id', '=', hold)
      .execute()
    await retention.eraseUser(erasure)
    const gone = await commentOf(project_id)
    expect(gone).toMatchObject({ comment: null, user_id: null })
    expect(gone.cluster).not.toBe('user:ann')
    expect(await retention.countHeld?.(erasure)).toBe(0)
  },
)

/** A database whose statement with this number ends only after `pause`. */
function pausedAfter(statement: number, pause: () => Promise<unknown>): FeedbackDb {
  let count = 0
  return api.db.withPlugin({
    transformQuery: ({ node }: { node: unknown }) => node as never,
    transformResult: async ({ result }: { result: unknown }) => {
      count += 1
      if (count === statement) await pause()
      return result as never
    },
  }) as never
}

/** Waits until the work has ended, or waits for a lock. */
async function endedOrBlocked(work: Promise<unknown>): Promise<void> {
  let ended = false
  work.finally(() => {
    ended = true
  })
  await eventually(
    'the erasure ends or waits for a lock',
    async () => ended || (await countBlocked(api.db)) > 0,
  )
}

test('an erasure at any statement of a new vote of the user leaves counts that add up', async () => {
  const retention = openFeedbackRetention({ db: api.db as never })
  let paused = true
  for (let statement = 1; paused; statement += 1) {
    paused = false
    const { project_id, task_id } = await commented()
    let erasing: Promise<void> | undefined
    const db = pausedAfter(statement, async () => {
      paused = true
      const about = { project_id, user_id: 'ann', trace_ids: [], held_trace_ids: [] }
      erasing = retention.eraseUser(about)
      await endedOrBlocked(erasing)
    })
    await createItem({ db, limits, now_ms: api.clock.ms }, voteOf(project_id, task_id, 5))
    await erasing
    const votes = await api.db
      .selectFrom('feedback')
      .select('sentiment')
      .where('project_id', '=', project_id)
      .where('counts', '=', true)
      .execute()
    const of = (name: string) => votes.filter(({ sentiment }) => sentiment === name).length
    const [negative, neutral, positive] = [of('negative'), of('neutral'), of('positive')]
    const task = await api.db
      .selectFrom('feedback_tasks')
      .select(['negative', 'neutral', 'positive'])
      .where('project_id', '=', project_id)
      .executeTakeFirst()
    expect(task).toEqual({ negative, neutral, positive })
    expect(await api.counted(project_id)).toEqual([`end_user  ${negative} ${neutral} ${positive}`])
    expect(statement).toBeLessThan(40)
  }
})
