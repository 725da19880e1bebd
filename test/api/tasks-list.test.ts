import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conversationIdFrom, newId } from '../../src/kernel/ids.ts'
import type { AccessTables, FeedbackTables } from '../../src/platform/relational/index.ts'
import { testPostgres } from '../support/postgres.ts'
import {
  instant,
  keyOf,
  openTaskApi,
  type Reply,
  type TaskApi,
  tokenOf,
} from '../support/task-api.ts'

let url: string
let api: TaskApi
beforeAll(async () => {
  url = await testPostgres()
  api = await openTaskApi({ url })
})
afterAll(() => api[Symbol.asyncDispose]())

/** Votes of end users belong to a registered project. */
async function addProject(id: string) {
  const db = api.db.withTables<Pick<AccessTables, 'organizations' | 'projects'>>()
  const organization_id = newId()
  await db.insertInto('organizations').values({ id: organization_id, name: id }).execute()
  await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
}

function addVotes(task_id: string, votes: { positive?: number; negative?: number }) {
  const at = instant(-20)
  return api.db
    .withTables<Pick<FeedbackTables, 'feedback_tasks'>>()
    .insertInto('feedback_tasks')
    .values({
      ...{ project_id: api.project_id, task_id, task_ref: task_id, ...votes },
      ...{ first_at: at, last_at: at, created_at: at },
    })
    .execute()
}

const idsOf = ({ body }: Reply) => (body['tasks'] as { task_id: string }[]).map((t) => t.task_id)

describe('filters', () => {
  let client_conversation: string
  beforeAll(async () => {
    client_conversation = conversationIdFrom(api.project_id, 'chat/1').conversation_id
    const conversation_id = client_conversation
    await api.seedConversation({ conversation_id, external_id: 'chat/1' })
    await api.seedTask({ task_id: 'plain' })
    await api.seedTask({
      task_id: 'full',
      name: 'Sort the mail',
      user_id: 'ada',
      conversation_id,
      environment: 'production',
      release: 'v1',
      cluster_name: 'eu-1',
      models: ['m-1', 'm-2'],
      errors: 1,
      calls: 3,
      ...{ cost_usd: '0.25', total_tokens: 900, duration_ms: 90_000_000 },
    })
    const ended_at = instant(-30)
    await api.seedTask({ task_id: 'done', state: 'completed', ended_at, name: 'sorted' })
    await api.seedTask({ task_id: 'broken', state: 'failed', ended_at, implicit: true })
    const old = { started_at: instant(-7200), last_activity_at: instant(-1801) }
    await api.seedTask({ task_id: 'stalled', ...old })
    await api.seedTask({
      ...{ task_id: 'verified', trust_score: 0.25, trust_coverage: 0.75, name: 'verified' },
      ...{ verification_state: 'verified', verified_at: instant(-10), release: 'v2' },
    })
    await api.seedTask({ task_id: 'old-implicit', implicit: true, ...old })
    await addProject(api.project_id)
    await addVotes('done', { positive: 1 })
    await addVotes('full', { positive: 1, negative: 1 })
  })

  test.each([
    ['', ['broken', 'done', 'full', 'old-implicit', 'plain', 'stalled', 'verified']],
    ['state=completed', ['done']],
    ['state=failed', ['broken']],
    ['state=running', ['full', 'old-implicit', 'plain', 'stalled', 'verified']],
    ['stalled=true', ['stalled']],
    ['stalled=false', ['broken', 'done', 'full', 'old-implicit', 'plain', 'verified']],
    ['name=Sort+the+mail', ['full']],
    ['name=sort', []],
    ['q=sort', ['done', 'full']],
    ['q=%25', []],
    ['user_id=ada', ['full']],
    ['conversation_id=chat/1', ['full']],
    ['model=m-2', ['full']],
    ['model=m', []],
    ['environment=production', ['full']],
    ['release=v1', ['full']],
    ['cluster_name=eu-1', ['full']],
    ['cluster_name=eu', []],
    ['implicit=true', ['broken', 'old-implicit']],
    ['has_errors=true', ['full']],
    ['has_errors=false&implicit=false', ['done', 'plain', 'stalled', 'verified']],
    ['cost_usd_min=0.25', ['full']],
    ['cost_usd_min=0.250000001', []],
    ['total_tokens_min=900', ['full']],
    ['total_tokens_min=901', []],
    ['duration_ms_min=90000000', ['full']],
    ['duration_ms_min=90000001', []],
    ['feedback=positive', ['done', 'full']],
    ['feedback=negative', ['full']],
    ['trust_min=0.25', ['verified']],
    ['trust_min=0.26', []],
    ['trust_max=0.25', ['verified']],
    ['trust_max=0.2', []],
    ['verification_state=verified', ['verified']],
    [
      'verification_state=not_verified&implicit=false&has_errors=false',
      ['done', 'plain', 'stalled'],
    ],
    [`from=${instant(-1800)}`, ['broken', 'done', 'full', 'plain', 'verified']],
    [`to=${instant(-3600)}`, ['old-implicit', 'stalled']],
    [`from=${instant(-1801)}&to=${instant(-1000)}`, ['old-implicit', 'stalled']],
    ['state=running&user_id=ada&q=S', ['full']],
  ])('%s', async (query, expected) => {
    const reply = await api.get(`/api/v1/tasks?${query}`)
    expect(reply.status).toBe(200)
    expect(idsOf(reply).toSorted()).toEqual(expected)
    expect(reply.body).toMatchObject({ total: expected.length, next_cursor: null })
    expect(reply.body).not.toHaveProperty('total_is_exact')
  })

  test('a task shows its trust, and one that was not verified none', async () => {
    const [verified] = (await api.get('/api/v1/tasks?trust_min=0')).body['tasks'] as object[]
    expect(verified).toMatchObject({
      ...{ trust_score: 0.25, trust_coverage: 0.75, verification_state: 'verified' },
      verified_at: instant(-10),
    })
    const plain = await api.get('/api/v1/tasks/plain')
    expect(plain.body).toMatchObject({
      ...{ trust_score: null, trust_coverage: null, verification_state: 'not_verified' },
      verified_at: null,
    })
    for (const query of ['trust_min=1.1', 'trust_max=-1', 'trust_min=x', 'verification_state=no']) {
      expect((await api.get(`/api/v1/tasks?${query}`)).status).toBe(400)
    }
  })

  test('a conversation can be named by its UUID too', async () => {
    const reply = await api.get(`/api/v1/tasks?conversation_id=${client_conversation}`)
    expect(idsOf(reply)).toEqual(['full'])
    expect(reply.body['tasks']).toMatchObject([
      { conversation: { id: client_conversation, external_id: 'chat/1' } },
    ])
  })
})

describe('sorting and pages', () => {
  const columns = [
    'last_activity_at',
    'started_at',
    'cost_usd',
    'total_tokens',
    'calls',
    'duration_ms',
  ]
  let sorted: TaskApi
  beforeAll(async () => {
    sorted = await openTaskApi({ url })
    for (let n = 0; n < 12; n++) {
      const step = Math.floor(n / 2)
      await sorted.seedTask({
        task_id: `t${n}`,
        last_activity_at: instant(step - 100),
        started_at: instant(((step * 5) % 6) - 200),
        cost_usd: `0.${String((step * 7) % 6).padStart(9, '0')}`,
        total_tokens: (step * 11) % 6,
        calls: 9 + ((step * 13) % 6),
        duration_ms: (step * 17) % 6,
      })
    }
  })
  afterAll(() => sorted[Symbol.asyncDispose]())

  async function walk(query: string, between?: (page: number) => Promise<void>) {
    const tasks: Record<string, unknown>[] = []
    let cursor: unknown = ''
    for (let page = 0; cursor !== null; page++) {
      const from = cursor === '' ? '' : `&cursor=${cursor}`
      const { status, body } = await sorted.get(`/api/v1/tasks?${query}${from}`)
      expect(status).toBe(200)
      tasks.push(...(body['tasks'] as Record<string, unknown>[]))
      cursor = body['next_cursor']
      await between?.(page)
    }
    return tasks
  }

  test.each(
    columns.flatMap((sort) => [
      [sort, 'asc'],
      [sort, 'desc'],
    ]),
  )('by %s %s, in pages of 5: every task once, in order', async (sort, order) => {
    const tasks = await walk(`sort=${sort}&order=${order}&limit=5`)
    expect(new Set(tasks.map((task) => task['task_id'])).size).toBe(12)
    expect(tasks).toHaveLength(12)
    const values = tasks.map((task) => {
      const tokens = task['tokens'] as { total: number }
      return [sort === 'total_tokens' ? tokens.total : task[sort as string], task['task_id']]
    })
    const ascending = (a: unknown[], b: unknown[]) => compare(a[0], b[0]) || compare(a[1], b[1])
    const expected = values.toSorted(ascending)
    expect(values).toEqual(order === 'asc' ? expected : expected.toReversed())
  })

  test.each(['asc', 'desc'])('by trust %s, in pages: unverified tasks come last', async (order) => {
    const mine = await openTaskApi({ url })
    const scores = [0.5, null, 1, 0.1 + 0.2, null, 0, 0.5, null]
    for (const [n, trust_score] of scores.entries()) {
      await mine.seedTask({ task_id: `t${n}`, trust_score })
    }
    const scored = ['t5', 't3', 't0', 't6', 't2']
    const unscored = ['t1', 't4', 't7']
    const expected =
      order === 'asc'
        ? [...scored, ...unscored]
        : [...scored.toReversed(), ...unscored.toReversed()]
    for (const limit of [1, 2, 3, 5, 100]) {
      const found: string[] = []
      let cursor: unknown = ''
      while (cursor !== null) {
        const from = cursor === '' ? '' : `&cursor=${cursor}`
        const query = `sort=trust_score&order=${order}&limit=${limit}${from}`
        const reply = await mine.get(`/api/v1/tasks?${query}`)
        found.push(...idsOf(reply))
        cursor = reply.body['next_cursor']
      }
      expect(found, `pages of ${limit}`).toEqual(expected)
    }
    await mine[Symbol.asyncDispose]()
  })

  test('tasks that are added meanwhile neither shift nor repeat those of later pages', async () => {
    const before = await walk('limit=1000')
    const added: string[] = []
    const tasks = await walk('limit=3', async (page) => {
      for (const at of [instant(0), instant(-98), instant(-300)]) {
        added.push(`added ${page} ${at}`)
        await sorted.seedTask({ task_id: `added ${page} ${at}`, last_activity_at: at })
      }
      if (page > 20) throw new Error('the list grows for ever')
    })
    const ids = tasks.map((task) => task['task_id'] as string)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !added.includes(id))).toEqual(before.map((task) => task['task_id']))
    await sorted.db.deleteFrom('tasks').where('task_id', 'in', added).execute()
  })

  test('the last page has no cursor, even when it is full', async () => {
    const { body } = await sorted.get('/api/v1/tasks?limit=12')
    expect(body['next_cursor']).toBeNull()
    expect(body['total']).toBe(12)
  })

  test('a cursor of another sort or order is refused, and so is an invented one', async () => {
    const { body } = await sorted.get('/api/v1/tasks?sort=calls&order=asc&limit=1')
    const cursor = body['next_cursor']
    for (const query of [
      `sort=calls&order=desc&cursor=${cursor}`,
      `sort=cost_usd&order=asc&cursor=${cursor}`,
      'cursor=bm8',
      `sort=calls&order=asc&cursor=${Buffer.from('["tasks by calls asc","x","y"]').toString('base64url')}`,
    ]) {
      const reply = await sorted.get(`/api/v1/tasks?${query}`)
      expect([reply.status, reply.body['code']]).toEqual([400, 'invalid_cursor'])
    }
  })

  test('above 10,000 the total is a lower bound', async () => {
    const { db, project_id, get } = sorted
    const extra = Array.from({ length: 10_001 }, (_, n) => `many ${n}`)
    for (let at = 0; at < extra.length; at += 1000) {
      const rows = extra.slice(at, at + 1000).map((task_id) => ({
        project_id,
        task_id,
        name: 'many',
        implicit: false,
        started_at: instant(0),
        last_activity_at: instant(0),
      }))
      await db.insertInto('tasks').values(rows).execute()
    }
    const { body } = await get('/api/v1/tasks?q=many&limit=1000')
    expect(body).toMatchObject({ total: 10_000, total_is_exact: false })
    expect(body['tasks']).toHaveLength(1000)
    await db.deleteFrom('tasks').where('name', '=', 'many').execute()
  })
})

describe('refusals', () => {
  test.each([
    ['limit=0', 'query.limit', 'got "0", expected an integer from 1 to 1000'],
    ['limit=1001', 'query.limit', 'got "1001"'],
    ['state=done', 'query.state', 'got "done", expected running, completed or failed'],
    ['stalled=1', 'query.stalled', 'got "1", expected true or false'],
    ['sort=name', 'query.sort', 'got "name", expected one of last_activity_at'],
    ['order=up', 'query.order', 'got "up", expected asc or desc'],
    ['from=yesterday', 'query.from', 'got "yesterday", expected an ISO 8601 instant'],
    ['user_id=%00', 'query.user_id', 'expected text without U+0000'],
    ['colour=red', 'query.colour', '"colour" is not a field here'],
    ['state=failed&state=running', 'query.state', 'got ["failed","running"]'],
    [`from=${instant(0)}&to=${instant(-1)}`, 'query.from', 'expected an instant before to'],
  ])('%s is 400 and quoted', async (query, pointer, detail) => {
    const { status, body } = await api.get(`/api/v1/tasks?${query}`)
    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['detail']).toContain(detail)
    expect(body['errors']).toMatchObject([{ pointer }])
  })

  test('no, wrong and insufficient credentials', async () => {
    const { project_id, get } = api
    const refused = [
      [{}, 401, 'credentials_missing'],
      [{ 'x-api-key': 'nonsense' }, 401, 'credentials_invalid'],
      [tokenOf('nobody', project_id), 401, 'credentials_invalid'],
      [keyOf(project_id, 'tasks:write'), 403, 'permission_denied'],
      [tokenOf('viewer'), 400, 'project_required'],
    ] as const
    for (const [headers, status, code] of refused) {
      const reply = await get('/api/v1/tasks', { headers })
      expect([reply.status, reply.body['code']]).toEqual([status, code])
    }
  })

  test('a viewer reads like a key, and tasks of another project are invisible', async () => {
    const headers = tokenOf('viewer', api.project_id)
    const asViewer = await api.get('/api/v1/tasks', { headers })
    expect(idsOf(asViewer)).toHaveLength(7)
    const foreign = await openTaskApi({ url })
    const asForeigner = await api.get('/api/v1/tasks', { headers: keyOf(foreign.project_id) })
    expect(asForeigner.body).toEqual({ tasks: [], total: 0, next_cursor: null })
    await foreign[Symbol.asyncDispose]()
  })

  test('an unavailable database is 503', async () => {
    await using dead = await openTaskApi({ url: 'postgres://nobody@127.0.0.1:1/none' })
    const { status, body, headers } = await dead.get('/api/v1/tasks')
    expect([status, body['code']]).toEqual([503, 'store_unavailable'])
    expect(body['detail']).toContain('relational store')
    expect(headers).toHaveProperty('retry-after')
  })
})

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
}
