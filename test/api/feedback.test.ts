import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { sql } from '../../src/platform/relational/index.ts'
import {
  type FeedbackApi,
  type Json,
  openFeedbackApi,
  type Reply,
} from '../support/feedback-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: FeedbackApi
let project: string
let task: string
beforeAll(async () => {
  api = await openFeedbackApi()
  project = await api.newProject()
  task = await api.newTask(project)
})
afterAll(() => api?.[Symbol.asyncDispose]())

const outcome = ({ status, body }: Reply) => [status, body?.code]
const up = { thumbs: 'up', user_id: 'u1' }
const down = { thumbs: 'down', user_id: 'u1' }
const itemPath = ({ body }: Reply, rest = '') =>
  `${encodeURIComponent(body.task_id)}/feedback/${body.feedback_id}${rest}`
const summary = async (task_id: string) =>
  api.db
    .selectFrom('feedback_tasks')
    .select(['items', 'negative', 'neutral', 'positive'])
    .where('task_id', '=', task_id)
    .executeTakeFirstOrThrow()

describe('an item', () => {
  test('is stored with its sentiment, and read back', async () => {
    const trace_id = newId()
    const sent = {
      ...{ rating: 2, labels: ['slow', 'slow', 'incorrect'], comment: 'No.', correction: '42' },
      ...{ trace_id: trace_id.replaceAll('-', '').toUpperCase(), metadata: { page: '/pay' } },
      user_id: 'u9',
    }
    const made = await api.give(project, task, sent)
    expect(made.status).toBe(201)
    expect(made.headers['etag']).toBe('"1"')
    expect(made.body).toMatchObject({
      ...{ rating: 2, labels: ['slow', 'incorrect'], comment: 'No.', correction: '42', trace_id },
      ...{ task_id: task, source: 'end_user', author: null, state: 'attached', thumbs: null },
      ...{ sentiment: 'negative', counts: true, version: 1, time_adjusted: false },
      ...{ metadata: { page: '/pay' }, created_by: 'key:key-1', at: '2026-11-23T12:00:00.000Z' },
    })
    const read = await api.call('GET', project, itemPath(made))
    expect(read.body).toEqual(made.body)
  })

  test('of a signed-in editor is an annotator’s; a viewer may not write', async () => {
    const editor = { headers: tokenOf('editor', project) }
    const made = await api.give(project, task, { labels: ['good'] }, editor)
    expect(made.body).toMatchObject({
      ...{ source: 'annotator', author: 'user:user-1', sentiment: 'positive' },
    })
    const viewer = { headers: tokenOf('viewer', project) }
    expect(outcome(await api.give(project, task, up, viewer))).toEqual([403, 'permission_denied'])
    expect((await api.call('GET', project, `${task}/feedback`, viewer)).status).toBe(200)
  })

  test.each<[Json, string]>([
    [{}, ''],
    [{ labels: [] }, ''],
    [{ user_id: 'u' }, ''],
    [{ rating: 0 }, '/rating'],
    [{ rating: 6 }, '/rating'],
    [{ rating: 1.5 }, '/rating'],
    [{ rating: '5' }, '/rating'],
    [{ thumbs: 'sideways' }, '/thumbs'],
    [{ comment: '' }, '/comment'],
    [{ comment: 'x'.repeat(10_001) }, '/comment'],
    [{ correction: 'x'.repeat(10_001) }, '/correction'],
    [{ comment: 'a\u0000b' }, '/comment'],
    [{ comment: '\ud800' }, '/comment'],
    [{ labels: Array.from({ length: 10_000 }, (_, at) => `label ${at}`) }, '/labels'],
    [{ labels: ['<script>'] }, '/labels/0'],
    [{ labels: ['x'.repeat(65)] }, '/labels/0'],
    [{ thumbs: 'up', metadata: { a: 1 } }, '/metadata/a'],
    [{ thumbs: 'up', at: 'yesterday' }, '/at'],
    [{ thumbs: 'up', trace_id: 'x' }, '/trace_id'],
    [{ thumbs: 'up', feedback_id: '../x' }, '/feedback_id'],
    [{ thumbs: 'up', sentiment: 'negative' }, '/sentiment'],
    [{ thumbs: 'up', author: 'me' }, '/author'],
    [{ thumbs: 'up', project_id: newId() }, '/project_id'],
  ])('%# is refused with a pointer', async (body, pointer) => {
    const reply = await api.give(project, task, body)
    expect(outcome(reply)).toEqual([400, 'invalid_request'])
    expect(reply.body.errors.map((fault: Json) => fault.pointer)).toContain(pointer)
  })

  test('of a megabyte is refused before it is parsed', async () => {
    const reply = await api.give(project, task, { comment: 'x'.repeat(1_048_576) })
    expect(outcome(reply)).toEqual([413, 'body_too_large'])
  })

  test('has the time of receipt if the client’s clock is days off', async () => {
    const at = async (at: string) => (await api.give(project, task, { comment: 'c', at })).body
    const now = '2026-11-23T12:00:00.000Z'
    expect(await at('2026-11-26T12:00:00Z')).toMatchObject({ at: now, time_adjusted: true })
    expect(await at('2026-09-01T12:00:00Z')).toMatchObject({ at: now, time_adjusted: true })
    // A few minutes are no fault, but nothing counts in the future.
    expect(await at('2026-11-23T12:04:00Z')).toMatchObject({ at: now, time_adjusted: false })
    const earlier = { at: '2026-11-20T10:00:00.000Z', time_adjusted: false }
    expect(await at('2026-11-20T12:00:00+02:00')).toMatchObject(earlier)
  })

  test('of an implicit task is found by both spellings of the trace id', async () => {
    const trace_id = newId()
    await api.newTask(project, { task_id: trace_id, implicit: true })
    const made = await api.give(project, trace_id.replaceAll('-', ''), up)
    expect(made.body.task_id).toBe(trace_id)
    const listed = await api.call('GET', project, `${trace_id}/feedback`)
    expect(listed.body.total).toBe(1)
  })
})

describe('the same call again', () => {
  test('with its own id returns the first item, with another body a conflict', async () => {
    const body = { ...up, feedback_id: `click-${newId()}`, comment: 'fine' }
    const first = await api.give(project, task, body)
    const again = await api.give(project, task, body)
    expect([first.status, again.status]).toEqual([201, 200])
    api.clock.ms += 60_000
    expect(again.body).toEqual(first.body)
    const other = await api.give(project, task, { ...body, comment: 'bad' })
    expect(outcome(other)).toEqual([409, 'feedback_conflict'])
    // Also after an edit, which is what a late retry of the first call meets.
    await api.call('PUT', project, itemPath(first), { body: { thumbs: 'down' } })
    const late = await api.give(project, task, body)
    expect([late.status, late.body.thumbs, late.body.version]).toEqual([200, 'down', 2])
  })

  test('does not change the time of the last feedback', async () => {
    const mine = await api.newTask(project)
    const body = { ...up, feedback_id: newId() }
    const { at } = (await api.give(project, mine, body)).body
    api.clock.ms += 60_000
    await api.give(project, mine, body)
    const stored = api.db.selectFrom('feedback_tasks').select(['first_at', 'last_at'])
    expect(await stored.where('task_id', '=', mine).execute()).toEqual([
      { first_at: at, last_at: at },
    ])
  })

  test('twenty times at once makes one item', async () => {
    const mine = await api.newTask(project)
    const body = { ...down, feedback_id: newId() }
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => api.give(project, mine, body)),
    )
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(19)
    expect(await summary(mine)).toEqual({ items: 1, negative: 1, neutral: 0, positive: 0 })
  })

  test('with an Idempotency-Key makes one item', async () => {
    const mine = await api.newTask(project)
    const headers = { ...keyOf(project, 'feedback:write'), 'idempotency-key': newId() }
    const first = await api.give(project, mine, up, { headers })
    const again = await api.give(project, mine, up, { headers })
    expect(again.body).toEqual(first.body)
    expect((await summary(mine)).items).toBe(1)
    const other = await api.give(project, mine, down, { headers })
    expect(outcome(other)).toEqual([409, 'idempotency_conflict'])
  })
})

describe('edits', () => {
  test('keep the earlier values with their actors', async () => {
    const made = await api.give(project, task, { ...up, comment: 'one' })
    api.clock.ms += 1_000
    const body = { thumbs: 'down', correction: 'right' }
    const headers = tokenOf('editor', project)
    const edited = await api.call('PUT', project, itemPath(made), { body, headers })
    expect(edited.body).toMatchObject({
      ...{ thumbs: 'down', comment: null, correction: 'right', sentiment: 'negative', version: 2 },
      ...{ user_id: 'u1', created_by: 'key:key-1', updated_by: 'user:user-1' },
    })
    const withdrawn = await api.call('DELETE', project, itemPath(made))
    expect(withdrawn.body).toMatchObject({ state: 'withdrawn', counts: false, version: 3 })
    expect((await api.call('DELETE', project, itemPath(made))).body).toEqual(withdrawn.body)
    const { body: history } = await api.call('GET', project, itemPath(made, '/history'))
    expect(
      history.versions.map(({ action, actor, value }: Json) => [action, actor, value.comment]),
    ).toEqual([
      ['created', 'key:key-1', 'one'],
      ['edited', 'user:user-1', null],
      ['withdrawn', 'key:key-1', null],
    ])
    const after = await api.call('PUT', project, itemPath(made), { body })
    expect(outcome(after)).toEqual([409, 'feedback_withdrawn'])
  })

  test('with If-Match replace only the version that was read', async () => {
    const made = await api.give(project, task, up)
    const edit = (thumbs: string, version: string) => {
      const headers = { ...keyOf(project, 'feedback:write'), 'if-match': version }
      return api.call('PUT', project, itemPath(made), { body: { thumbs }, headers })
    }
    expect((await edit('down', '"1"')).status).toBe(200)
    expect(outcome(await edit('up', '"1"'))).toEqual([412, 'precondition_failed'])
  })

  test('at one time each get a version, and the counts are those of the last', async () => {
    const mine = await api.newTask(project)
    const made = await api.give(project, mine, up)
    await Promise.all(
      Array.from({ length: 15 }, (_, at) =>
        api.call('PUT', project, itemPath(made), { body: { rating: 1 + (at % 5) } }),
      ),
    )
    const { body } = await api.call('GET', project, itemPath(made))
    expect(body.version).toBe(16)
    const counts = { items: 1, negative: 0, neutral: 0, positive: 0 }
    expect(await summary(mine)).toEqual({ ...counts, [body.sentiment]: 1 })
  })

  test('end at a number of versions', async () => {
    await using small = await openFeedbackApi({ limits: { versions_max: 2 } })
    const own = await small.newProject()
    const made = await small.give(own, await small.newTask(own), up)
    const edit = () => small.call('PUT', own, itemPath(made), { body: { thumbs: 'down' } })
    expect((await edit()).status).toBe(200)
    expect(outcome(await edit())).toEqual([409, 'limit_reached'])
  })
})

describe('votes', () => {
  let own: string
  beforeAll(async () => {
    own = await api.newProject()
  })

  test('of one user on a task count once: the last one', async () => {
    const mine = await api.newTask(own, { name: 'book', release: 'v1' })
    const first = await api.give(own, mine, down)
    const last = await api.give(own, mine, up)
    await api.give(own, mine, { comment: 'only text', user_id: 'u1' })
    await api.give(own, mine, { ...down, user_id: 'u2' })
    expect(await summary(mine)).toEqual({ items: 4, negative: 1, neutral: 0, positive: 1 })
    expect(await api.counted(own)).toEqual(['end_user  1 0 1'])
    expect(await api.counted(own, 'task_name')).toEqual(['end_user book 1 0 1'])
    expect(await api.counted(own, 'model')).toEqual(['end_user m1 1 0 1'])
    // The vote before counts again when the last one is withdrawn.
    await api.call('DELETE', own, itemPath(last))
    expect(await api.counted(own)).toEqual(['end_user  2 0 0'])
    await api.call('DELETE', own, itemPath(first))
    expect(await api.counted(own)).toEqual(['end_user  1 0 0'])
  })

  test('of annotators and rules are counted apart', async () => {
    const other = await api.newProject()
    const mine = await api.newTask(other)
    const annotator = { source: 'annotator', author: 'ann', labels: ['incorrect', 'policy'] }
    await api.give(other, mine, annotator)
    await api.give(other, mine, { ...annotator, author: 'bob', labels: ['correct'] })
    await api.give(other, mine, {
      source: 'rule',
      author: 'repeated',
      sentiment: 'negative',
      labels: ['r'],
    })
    await api.give(other, mine, { thumbs: 'up' })
    await api.give(other, mine, { thumbs: 'down' })
    expect(await api.counted(other)).toEqual(['annotator  1 0 1', 'end_user  1 0 0', 'rule  1 0 0'])
    expect(await api.counted(other, 'label')).toContain('annotator policy 1 0 0')
    expect(await summary(mine)).toMatchObject({ items: 5, negative: 1, positive: 0 })
  })

  test('of onboarding are not in the hours', async () => {
    const other = await api.newProject()
    const mine = await api.newTask(other, { environment: 'looptrace-onboarding' })
    expect((await api.give(other, mine, up)).body.counts).toBe(true)
    expect(await api.counted(other)).toEqual([])
  })

  test('after any changes, the hours are the sums of the items that count', async () => {
    const other = await api.newProject()
    const tasks = [await api.newTask(other), await api.newTask(other, { name: 'x' })]
    const made: Reply[] = []
    // A fixed walk: numbers of a linear congruential generator.
    let seed = 7
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return Math.floor((seed / 2 ** 31) * below)
    }
    for (let step = 0; step < 120; step += 1) {
      api.clock.ms += next(3) * 600_000
      const one = made[next(Math.max(1, made.length))]
      const rating = 1 + next(5)
      const move = next(3)
      if (one === undefined || move === 0) {
        made.push(await api.give(other, tasks[next(2)] ?? '', { rating, user_id: `u${next(3)}` }))
      } else if (move === 1) await api.call('DELETE', other, itemPath(one))
      else await api.call('PUT', other, itemPath(one), { body: { rating } })
    }
    const { rows } = await sql<Json>`
      select t.task_name as value, count(*) filter (where sentiment = 'negative')::int as negative,
        count(*) filter (where sentiment = 'neutral')::int as neutral,
        count(*) filter (where sentiment = 'positive')::int as positive
      from feedback join feedback_tasks t using (project_id, task_id)
      where project_id = ${other} and counts group by 1 order by 1`.execute(api.db)
    expect(await api.counted(other, 'task_name')).toEqual(
      rows.map((row: Json) =>
        ['end_user', row.value, row.negative, row.neutral, row.positive].join(' '),
      ),
    )
    const { rows: last } = await sql<Json>`
      select count(*) from feedback as one where project_id = ${other} and counts
        and exists (select from feedback as later where later.project_id = one.project_id
          and later.task_id = one.task_id and later.subject = one.subject
          and later.state = 'attached' and later.updated_at > one.updated_at)`.execute(api.db)
    expect(last).toEqual([{ count: 0 }])
  })
})

describe('the list', () => {
  test('is paged, filtered and of one task', async () => {
    const mine = await api.newTask(project)
    const ids: string[] = []
    for (const at of [0, 1, 2, 3, 4]) {
      api.clock.ms += 1
      const vote = { rating: at + 1, user_id: `u${at}` }
      ids.push((await api.give(project, mine, vote)).body.feedback_id)
    }
    const idsOf = async (query: string) => {
      const { body } = await api.call('GET', project, `${mine}/feedback?${query}`)
      return [body.total, ...body.feedback.map((one: Json) => ids.indexOf(one.feedback_id))]
    }
    expect(await idsOf('')).toEqual([5, 4, 3, 2, 1, 0])
    expect(await idsOf('sentiment=negative&order=asc')).toEqual([2, 0, 1])
    expect(await idsOf('source=rule')).toEqual([0])
    expect(await idsOf('counts=true&state=attached')).toEqual([5, 4, 3, 2, 1, 0])
    const first = await api.call('GET', project, `${mine}/feedback?limit=2`)
    const query = `limit=9&cursor=${first.body.next_cursor}`
    expect(await idsOf(query)).toEqual([5, 2, 1, 0])
    const wrong = await api.call('GET', project, `${mine}/feedback?order=asc&${query}`)
    expect(outcome(wrong)).toEqual([400, 'invalid_cursor'])
  })

  test('of an unknown task is 404', async () => {
    const reply = await api.call('GET', project, 'nowhere/feedback')
    expect(outcome(reply)).toEqual([404, 'task_not_found'])
  })
})

test('another project sees, changes and learns nothing', async () => {
  const stranger = await api.newProject()
  const body = { ...up, feedback_id: newId() }
  const made = await api.give(project, task, body)
  const calls = [
    await api.call('GET', stranger, `${task}/feedback`),
    await api.call('GET', stranger, itemPath(made)),
    await api.call('GET', stranger, itemPath(made, '/history')),
    await api.call('PUT', stranger, itemPath(made), { body: down }),
    await api.call('PUT', stranger, itemPath(made), { body: { thumbs: 'down' } }),
    await api.call('DELETE', stranger, itemPath(made)),
  ]
  expect(calls.map(({ status }) => status)).toEqual([404, 404, 404, 400, 404, 404])
  // The same ids in another project are its own item, which waits for a task of that project.
  const own = await api.give(stranger, task, { ...body, thumbs: 'down' })
  expect([own.status, own.body.state]).toEqual([201, 'pending'])
  expect((await api.call('GET', project, itemPath(made))).body).toEqual(made.body)
})

describe('a capture policy', () => {
  const put = async (project_id: string, content: string, masks: Json[]) => {
    const row = { project_id, content, sample_rate: 1, version: 1, updated_by: `user:${newId()}` }
    const updated_at = new Date(api.clock.ms)
    const values = { ...row, updated_at, masks: JSON.stringify(masks) }
    await api.db
      .insertInto('capture_policies')
      .values(values as never)
      .execute()
  }

  test('masks the texts, labels and ids of an item', async () => {
    const own = await api.newProject()
    const replacement = '[mail]'
    const mask = { name: 'mail', pattern: '[a-z]+@[a-z.]+', keys: null, replacement }
    await put(own, 'full', [mask, { name: 'pin', pattern: null, keys: ['pin'], replacement: 'x' }])
    const made = await api.give(own, 'of ann@example.com', {
      ...{ comment: 'I am ann@example.com', correction: 'bob@example.com', rating: 1 },
      ...{ user_id: 'ann@example.com', metadata: { pin: '1234', of: 'ann@example.com' } },
    })
    expect(made.body).toMatchObject({
      ...{ task_id: 'of [mail]', user_id: '[mail]', comment: 'I am [mail]', correction: '[mail]' },
      metadata: { pin: 'x', of: '[mail]' },
    })
    const stored = JSON.stringify([
      await api.db.selectFrom('feedback').selectAll().where('project_id', '=', own).execute(),
      await api.db
        .selectFrom('feedback_revisions')
        .selectAll()
        .where('project_id', '=', own)
        .execute(),
    ])
    expect(stored).not.toContain('example.com')
  })

  test('without content keeps the vote and no text', async () => {
    const own = await api.newProject()
    await put(own, 'metadata_only', [])
    const made = await api.give(own, 't', { rating: 1, comment: 'secret', metadata: { a: 'b' } })
    expect(made.body).toMatchObject({ rating: 1, comment: null, metadata: {} })
  })
})

describe('the audit trail', () => {
  // Names that no UUID and no hash contains.
  const body = { thumbs: 'down', labels: ['rude'], metadata: { place: 'bed 12' }, user_id: 'grace' }

  /** Writes, edits, withdraws and fails to edit an item, and returns the records of it. */
  async function recordsOf(headersOf?: (project_id: string) => Record<string, string>) {
    await using audited = await openFeedbackApi({ audited: true })
    const project_id = await audited.newProject()
    const task_id = await audited.newTask(project_id)
    const about = headersOf === undefined ? {} : { headers: headersOf(project_id) }
    const { user_id: _, ...values } = body
    const sent = headersOf === undefined ? body : values
    const feedback_id = 'grace-2026'
    const query = headersOf === undefined ? '?user_id=grace' : ''
    const path = `${task_id}/feedback/${feedback_id}`
    const given = await audited.give(project_id, task_id, { ...sent, feedback_id }, about)
    const edit = { ...about, body: values }
    const edited = await audited.call('PUT', project_id, `${path}${query}`, edit)
    const ended = await audited.call('DELETE', project_id, `${path}${query}`, about)
    const refused = await audited.call('PUT', project_id, `${path}${query}`, edit)
    expect([given, edited, ended, refused].map(outcome)).toEqual([
      ...[
        [201, undefined],
        [200, undefined],
        [200, undefined],
      ],
      [409, 'feedback_withdrawn'],
    ])
    const records = audited.db.selectFrom('audit_records').selectAll().orderBy('seq')
    return { task_id, records: await records.execute() }
  }

  test('has what people do to an item, without its values and its id', async () => {
    const { task_id, records } = await recordsOf((project_id) => tokenOf('editor', project_id))
    const change = { resource_id: task_id, change_value: null, change_hash: null }
    expect(records).toMatchObject([
      { action: 'createFeedback', outcome: 'succeeded', actor_kind: 'user', ...change },
      { action: 'editFeedback', outcome: 'succeeded', ...change },
      { action: 'withdrawFeedback', outcome: 'succeeded', ...change },
      { action: 'editFeedback', outcome: 'refused', code: 'feedback_withdrawn', ...change },
    ])
    expect(JSON.stringify(records)).not.toMatch(/grace|rude|bed 12/)
  })

  test('has only the refused calls of keys', async () => {
    const { task_id, records } = await recordsOf()
    expect(records).toMatchObject([
      { action: 'editFeedback', outcome: 'refused', resource_id: task_id, change_hash: null },
    ])
    expect(JSON.stringify(records)).not.toMatch(/grace|rude|bed 12/)
  })
})
