import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { sql } from '../../src/platform/relational/index.ts'
import {
  type FeedbackApi,
  feedbackKey,
  openFeedbackApi,
  type Reply,
} from '../support/feedback-api.ts'
import { tokenOf } from '../support/task-api.ts'

const origin = 'https://app.example.com'
let api: FeedbackApi
let project: string
let task: string
/** A browser key, and a key of a server. */
let browser: string
let server: string

beforeAll(async () => {
  api = await openFeedbackApi({
    real_keys: true,
    limits: {
      ...{ browser_items_of_task_max: 30, browser_items_of_network_max: 3 },
      ...{ browser_pending_max: 8, pending_max: 20 },
    },
  })
  project = await api.newProject()
  task = await api.newTask(project)
  browser = (await makeKey({ origins: [origin], user_rate_per_minute: 60 })).body.key
  server = (await makeKey({ scopes: ['feedback:write', 'tasks:read'] })).body.key
})
afterAll(() => api?.[Symbol.asyncDispose]())

const keysUrl = (project_id: string) => `/api/v2/access/projects/${project_id}/api-keys`
const makeKey = (body: object, project_id = project) =>
  api.call('POST', project_id, keysUrl(project_id), {
    body: { name: 'k', scopes: ['feedback:write'], ...body },
    headers: tokenOf('admin', project_id),
  })
const outcome = ({ status, body }: Reply) => [status, body?.code]
const page = (more: Record<string, string> = {}, key = browser) => ({
  headers: { 'x-api-key': key, origin, ...more },
})
const pageAt = (from: string) => ({ ...page(), from })
const give = (body: object, about = page(), task_id = task) =>
  api.give(project, task_id, { thumbs: 'up', user_id: 'ann', ...body }, about)
const pathOf = ({ body }: Reply, user_id?: string) =>
  `${body.task_id}/feedback/${body.feedback_id}${user_id === undefined ? '' : `?user_id=${user_id}`}`

describe('a browser key', () => {
  test('is made with origins, shown in the list, and keeps them when it is rotated', async () => {
    const made = await makeKey({ origins: ['http://localhost:5173', origin, origin] })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      ...{ origins: ['http://localhost:5173', origin], user_rate_per_minute: 20 },
      scopes: ['feedback:write'],
    })
    const admin = { headers: tokenOf('admin', project) }
    const listed = await api.call('GET', project, keysUrl(project), admin)
    const { key: _key, ...shown } = made.body
    expect(listed.body.api_keys).toContainEqual(shown)
    const url = `${keysUrl(project)}/${made.body.id}`
    const rotated = await api.call('POST', project, `${url}/rotate`, { ...admin, body: {} })
    expect(rotated.body).toMatchObject({ origins: made.body.origins, user_rate_per_minute: 20 })
    const wider = { ...admin, body: { scopes: ['feedback:write', 'tasks:read'] } }
    const id = rotated.body.id
    const reply = await api.call('POST', project, `${keysUrl(project)}/${id}/scopes`, wider)
    expect(outcome(reply)).toEqual([400, 'invalid_request'])
  })

  test.each([
    { origins: [] },
    { origins: ['*'] },
    { origins: ['null'] },
    { origins: ['https://*.example.com/'] },
    { origins: ['https://*.example.com'] },
    { origins: ['https://*'] },
    { origins: ['https://app.*.com'] },
    { origins: ['https://app.example.com:*'] },
    { origins: ['https://a,b.example.com'] },
    { origins: ['https://a b.example.com'] },
    { origins: ['https://.example.com'] },
    { origins: ['https://app..example.com'] },
    { origins: ['https://app.example.com/'] },
    { origins: ['https://app.example.com/chat'] },
    { origins: ['https://app.example.com:443'] },
    { origins: ['https://APP.example.com'] },
    { origins: ['https://user@app.example.com'] },
    { origins: ['http://app.example.com'] },
    { origins: ['http://localhost.evil.example'] },
    { origins: ['file://'] },
    { origins: ['javascript:alert(1)'] },
    { origins: Array.from({ length: 21 }, (_, at) => `https://a${at}.example`) },
    { origins: [origin], scopes: ['feedback:write', 'tasks:read'] },
    { origins: [origin], scopes: ['ingest:write'] },
    { origins: [origin], user_rate_per_minute: 0 },
    { user_rate_per_minute: 5 },
  ])('%# is refused: %j', async (body) => {
    expect(outcome(await makeKey(body))).toEqual([400, 'invalid_request'])
  })

  test('sends feedback of end users from its origin', async () => {
    const made = await give({ feedback_id: newId(), comment: 'Nice.' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ source: 'end_user', user_id: 'ann' })
    const read = await api.call('GET', project, pathOf(made), { headers: { 'x-api-key': server } })
    expect(read.body).toMatchObject({ state: 'attached', counts: true })
    expect(made.headers['access-control-allow-origin']).toBe('*')
    expect(made.headers['access-control-expose-headers']).toContain('Retry-After')
    expect(made.headers['access-control-allow-credentials']).toBeUndefined()
  })

  test.each([
    'https://evil.example',
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    'null',
    'https://APP.EXAMPLE.COM',
  ])('is refused from the origin %s', async (from) => {
    expect(outcome(await give({}, page({ origin: from })))).toEqual([403, 'permission_denied'])
  })

  test('is refused without an origin', async () => {
    const headers = { 'x-api-key': browser }
    expect(outcome(await give({}, { headers } as never))).toEqual([403, 'permission_denied'])
  })

  test('sends no feedback of annotators and rules, and no guessable id', async () => {
    for (const source of ['annotator', 'rule']) {
      expect(outcome(await give({ source }))).toEqual([403, 'permission_denied'])
    }
    expect(outcome(await give({ feedback_id: '1' }))).toEqual([400, 'invalid_request'])
  })

  test('reads nothing: no list, no item, no history, no keys', async () => {
    const made = await give({ comment: 'private' })
    const headers = page()
    const replies = await Promise.all([
      api.call('GET', project, `${task}/feedback`, headers),
      api.call('GET', project, pathOf(made), headers),
      api.call('GET', project, `${pathOf(made)}/history`, headers),
      api.call('GET', project, '/api/v2/access/projects', headers),
    ])
    expect(replies.map(({ status }) => status)).toEqual([403, 403, 403, 401])
    // The browser shows a page none of these answers.
    for (const { headers: sent } of replies) {
      expect(sent['access-control-allow-origin']).toBeUndefined()
    }
  })

  test('of another project is no key of this one', async () => {
    const stranger = await api.newProject()
    const key = (await makeKey({ origins: [origin] }, stranger)).body.key
    const made = await give({}, page({}, key))
    // It writes into its own project only, where no such task was seen.
    expect([made.status, made.body.state]).toEqual([201, 'accepted'])
    const named = await give({}, page({ 'x-project-id': project }, key))
    expect(outcome(named)).toEqual([404, 'project_not_found'])
  })
})

test('the answers for a task that was seen and for an unknown one are the same', async () => {
  const implicit = '4bf92f3577b34da6a3ce929d0e0e4736'
  await api.newTask(project, { task_id: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736', implicit: true })
  const guesser = pageAt('10.7.0.1')
  const seenBy = async (task_id: string) => {
    const sent = { feedback_id: newId(), user_id: 'guesser', comment: 'x' }
    const made = await give(sent, guesser, task_id)
    const again = await give(sent, guesser, task_id)
    const item = `${task_id}/feedback/${sent.feedback_id}?user_id=guesser`
    const edited = await api.call('PUT', project, item, { ...page(), body: { rating: 1 } })
    const gone = await api.call('DELETE', project, item, page())
    const replies = [made, again, edited, gone].map(({ status, body, headers }) => {
      const { date: _date, 'x-request-id': _id, ...more } = headers
      return { status, body, headers: more }
    })
    return JSON.stringify(replies)
      .replaceAll(task_id, 'TASK')
      .replaceAll(sent.feedback_id, 'ITEM')
      .replaceAll(/"(remaining|ratelimit-\w+|content-length)":"[^"]*"/g, '')
  }
  const unknown = await seenBy('ffffffffffffffffffffffffffffffff')
  expect(unknown).toContain('"state":"accepted","')
  expect(unknown).toContain('"counts":null')
  for (const known of [task, await api.newTask(project), implicit]) {
    expect(await seenBy(known)).toBe(unknown)
  }
})

describe('changes with a browser key', () => {
  const edit = { body: { thumbs: 'down' } }

  test('need the id of the item and its user', async () => {
    const made = await give({ feedback_id: newId() })
    const by = (user_id?: string) =>
      api.call('PUT', project, pathOf(made, user_id), { ...page(), ...edit })
    expect(outcome(await by())).toEqual([404, 'feedback_not_found'])
    expect(outcome(await by('eve'))).toEqual([404, 'feedback_not_found'])
    expect((await by('ann')).body).toMatchObject({ thumbs: 'down', version: 2 })
    const path = `${task}/feedback/${newId()}?user_id=ann`
    expect((await api.call('PUT', project, path, { ...page(), ...edit })).status).toBe(404)
    const gone = await api.call('DELETE', project, pathOf(made, 'ann'), page())
    expect(gone.body.state).toBe('withdrawn')
  })

  test('do not reach items of servers and people', async () => {
    const body = { thumbs: 'up', user_id: 'ann', feedback_id: newId() }
    const made = await api.give(project, task, body, { headers: { 'x-api-key': server } })
    for (const method of ['PUT', 'DELETE'] as const) {
      const about = method === 'PUT' ? { ...page(), ...edit } : page()
      const reply = await api.call(method, project, pathOf(made, 'ann'), about)
      expect(outcome(reply)).toEqual([404, 'feedback_not_found'])
    }
    // Nor can the id of such an item be used to read it.
    const again = await give({ feedback_id: body.feedback_id, comment: 'guess' })
    expect(outcome(again)).toEqual([409, 'feedback_conflict'])
    expect(JSON.stringify(again.body)).not.toContain('server')
  })

  test('a page that names another user does not replace that user’s vote from the server', async () => {
    const mine = await api.newTask(project)
    const vote = { thumbs: 'up', user_id: 'victim' }
    const made = await api.give(project, mine, vote, { headers: { 'x-api-key': server } })
    api.clock.ms += 1_000
    const forged = await give({ thumbs: 'down', user_id: 'victim' }, page(), mine)
    const stored = { headers: { 'x-api-key': server } }
    expect((await api.call('GET', project, pathOf(forged), stored)).body.counts).toBe(false)
    const read = await api.call('GET', project, pathOf(made), { headers: { 'x-api-key': server } })
    expect(read.body.counts).toBe(true)
  })
})

describe('preflight requests', () => {
  const ask = (path: string, method: string, more: Record<string, string> = {}) =>
    api.call('OPTIONS', project, path, {
      headers: { origin, 'access-control-request-method': method, ...more },
    })

  test('are answered for the methods of feedback that browser keys may use', async () => {
    const post = await ask(`${task}/feedback`, 'POST')
    expect(post.status).toBe(204)
    expect(post.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-max-age': '600',
    })
    const allowed = String(post.headers['access-control-allow-headers']).toLowerCase()
    expect(allowed).toContain('x-api-key')
    expect(allowed).not.toContain('authorization')
    const put = await ask(`${task}/feedback/${newId()}`, 'PUT')
    expect(put.headers['access-control-allow-methods']).toBe('PUT, DELETE')
  })

  test.each([
    ['feedback', 'GET'],
    ['feedback', 'PATCH'],
    ['feedback/x/history', 'GET'],
    ['complete', 'PUT'],
  ])('are not answered for %s %s', async (rest, method) => {
    const reply = await ask(`${task}/${rest}`, method)
    expect(reply.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('are not answered for other routes', async () => {
    const reply = await ask('/api/v1/auth/token', 'POST')
    expect(reply.headers['access-control-allow-origin']).toBeUndefined()
  })
})

describe('a hostile page', () => {
  test('has a tenth of what browser keys can add to a task, at each network', async () => {
    for (const task_id of [await api.newTask(project), newId()]) {
      const send = (from: string, at: number) =>
        give({ user_id: `n${from}-${at}` }, pageAt(from), task_id)
      const codes: unknown[][] = []
      for (let at = 0; at < 5; at += 1) codes.push(outcome(await send('10.3.0.1', at)))
      expect(codes.map(([status]) => status)).toEqual([201, 201, 201, 409, 409])
      expect(codes[3]).toEqual([409, 'limit_reached'])
      // An IPv6 /64 is one network.
      for (const [at, status] of [201, 201, 201, 409].entries()) {
        expect((await send(`2001:db8::${at + 1}`, at)).status).toBe(status)
      }
      expect((await send('10.3.0.2', 0)).status).toBe(201)
      const others = { headers: { 'x-api-key': server } }
      expect((await api.give(project, task_id, { rating: 5 }, others)).status).toBe(201)
    }
    const { rows } = await sql`select network_tag from feedback where by_browser`.execute(api.db)
    expect(JSON.stringify(rows)).not.toContain('10.3.0')
    await sql`delete from feedback where state = 'pending'`.execute(api.db)
    await sql`delete from feedback_drops`.execute(api.db)
  })

  test('is limited as one user, as many users of one network, and as anonymous users', async () => {
    const key = (await makeKey({ origins: [origin], user_rate_per_minute: 2 })).body.key
    const network = (from: string) => ({ ...page({}, key), from })
    // A task each, so that no task is full.
    const send = async (from: string, body: object) =>
      give(body, network(from), await api.newTask(project))
    const limited: Reply[] = []
    for (let at = 0; at < 3; at += 1) limited.push(await send('10.0.0.1', { user_id: 'one' }))
    expect(limited.map(({ status }) => status)).toEqual([201, 201, 429])
    const last = limited[2] as Reply
    expect(last.body.code).toBe('rate_limited')
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
    expect(last.headers['ratelimit-limit']).toBe('2')
    expect(last.headers['access-control-allow-origin']).toBe('*')
    // New names from one network: 20 calls a minute, of which 3 are used.
    const names: number[] = []
    for (let at = 0; at < 19; at += 1) {
      names.push((await send('10.0.0.1', { user_id: `name ${at}` })).status)
    }
    expect(names.filter((status) => status === 201)).toHaveLength(17)
    const anonymous = { user_id: undefined }
    for (const expected of [201, 201, 429]) {
      expect((await send('10.0.0.2', anonymous)).status).toBe(expected)
    }
    // Another network is not held up.
    expect((await send('10.0.0.3', { user_id: 'two' })).status).toBe(201)
  })

  test('fills neither a task nor the waiting list for others', async () => {
    const mine = await api.newTask(project)
    const flood = async (task_id: string, calls: number) => {
      const codes = new Map<string, number>()
      for (let at = 0; at < calls; at += 1) {
        const about = { ...page(), from: `10.1.${at}.1` }
        const { status, body } = await give({ user_id: `f${at}` }, about, task_id)
        const code = `${status} ${body.code ?? ''}`
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
      return Object.fromEntries(codes)
    }
    expect(await flood(mine, 33)).toEqual({ '201 ': 30, '409 limit_reached': 3 })
    const others = { headers: { 'x-api-key': server } }
    expect((await api.give(project, mine, { rating: 5 }, others)).status).toBe(201)
    const waiting = newId()
    expect(await flood(waiting, 10)).toEqual({ '201 ': 8, '429 feedback_queue_full': 2 })
    expect((await api.give(project, newId(), { rating: 5 }, others)).status).toBe(201)
    const drops = await api.db
      .selectFrom('feedback_drops')
      .select(['reason', 'items'])
      .where('project_id', '=', project)
      .orderBy('reason')
      .execute()
    expect(drops).toEqual([
      { reason: 'pending_limit', items: 2 },
      { reason: 'task_limit', items: 3 },
    ])
  })

  test('cannot move its votes to last week', async () => {
    const at = new Date(api.clock.ms - 2 * 86_400_000).toISOString()
    const about = { ...page(), from: '10.9.9.9' }
    const made = await give({ at, user_id: 'late' }, about, await api.newTask(project))
    expect(made.body.time_adjusted).toBe(true)
  })
})

test('the key of a server needs no origin, and a page of it gets no more', async () => {
  const headers = { 'x-api-key': server, origin: 'https://evil.example' }
  expect((await give({}, { headers })).status).toBe(201)
  const stub = { headers: feedbackKey(project) }
  expect(outcome(await api.give(project, task, { thumbs: 'up' }, stub))).toEqual([
    401,
    'credentials_invalid',
  ])
})
