import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAnswer } from '../../src/capabilities/verification/runs/read-answer.ts'
import { encodeCursor } from '../../src/kernel/pages.ts'
import { maxProjectWaits } from '../../src/kernel/wait-slots.ts'
import { eventually } from '../support/eventually.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'
import {
  openVerificationApi,
  type VerificationApi,
  type VerificationReply,
} from '../support/verification-api.ts'

let api: VerificationApi
beforeAll(async () => {
  api = await openVerificationApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** A project with an agent's run. */
async function newTrace(about: { task_id?: string } = {}) {
  const project = await api.bench.newProject()
  const trace = await api.bringRun(project, about.task_id ?? 'task-1')
  return { project, trace, path: `/traces/${trace}` }
}

/** A project whose trace has a verified run. */
async function newVerified(claims: Parameters<VerificationApi['endRun']>[1] = twoClaims) {
  const made = await newTrace()
  const { body } = await api.post(made.project, `${made.path}/verify`)
  await api.endRun(body.run_id, claims)
  return { ...made, run_id: body.run_id as string }
}

const twoClaims = [
  { text: 'The invoice is over $40.', verdict: 'supported' },
  { text: 'It is due in May.', verdict: 'not_found' },
] as const

async function verifyAgain(
  { project, path }: { project: string; path: string },
  claims: Parameters<VerificationApi['endRun']>[1],
): Promise<string> {
  const { body } = await api.post(project, `${path}/verify`, { force_reverify: true })
  await api.endRun(body.run_id, claims)
  return body.run_id
}

async function countRuns(project_id: string): Promise<number> {
  const runs = await api.db
    .selectFrom('verification_runs')
    .select('id')
    .where('project_id', '=', project_id)
    .execute()
  return runs.length
}

describe('start', () => {
  test('answers pending as the specification says, with all defaults', async () => {
    const { project, trace, path } = await newTrace()
    const { status, body } = await api.post(project, `${path}/verify`)
    expect(status).toBe(202)
    expect(body).toEqual({
      trace_id: trace,
      status: 'pending',
      message: `Verification started in the background. Poll the result with GET /api/v1/verification/traces/${trace}.`,
      trust_score: null,
      run_id: expect.any(String),
    })
    const run = await api.get(project, `/runs/${body.run_id}`)
    expect(run.body).toMatchObject({
      ...{ state: 'pending', task_id: 'task-1', trigger: 'request', requested_by: 'user:user-1' },
      ...{ trust_score: null, claims_total: 0, cost_usd: '0', error: null },
    })
  })

  test.each([{}, { verifiers: null }, { force_reverify: false, async_mode: true }])(
    'the body %j means all available verifiers, in the background',
    async (body) => {
      const { project, path } = await newTrace()
      const { status } = await api.post(project, `${path}/verify`, body)
      expect(status).toBe(202)
      const [run] = await api.db
        .selectFrom('verification_runs')
        .select('verifiers')
        .where('project_id', '=', project)
        .execute()
      expect(run?.verifiers).toEqual([
        { name: 'kb', options: {} },
        { name: 'web', options: { domains_min: 2 } },
      ])
    },
  )

  test('verifiers are names or names with options; a named one may be unavailable', async () => {
    const { project, path } = await newTrace()
    const verifiers = ['multi_model', { name: 'web', options: { domains_min: 3 } }, { name: 'kb' }]
    expect((await api.post(project, `${path}/verify`, { verifiers })).status).toBe(202)
    const [run] = await api.db
      .selectFrom('verification_runs')
      .select('verifiers')
      .where('project_id', '=', project)
      .execute()
    expect(run?.verifiers).toEqual([
      { name: 'multi_model', options: {} },
      { name: 'web', options: { domains_min: 3 } },
      { name: 'kb', options: {} },
    ])
  })

  test.each<[object, string, RegExp]>([
    [{ verifiers: ['psychic'] }, '/verifiers/0', /got "psychic", expected one of kb, web, multi/],
    [{ verifiers: ['kb', { name: 'x' }] }, '/verifiers/1/name', /expected one of kb, web/],
    [{ verifiers: ['kb', 'kb'] }, '/verifiers/1', /got "kb" twice/],
    [
      { verifiers: [{ name: 'web', options: { rings: 1 } }] },
      '/verifiers/0/options/rings',
      /"rings" is not an option of web/,
    ],
    [
      { verifiers: [{ name: 'web', options: { domains_min: 1 } }] },
      '/verifiers/0/options/domains_min',
      /./,
    ],
    [{ verifiers: [] }, '/verifiers', /at least one/],
    [{ verifiers: ['kb', 'kb', 'kb', 'kb', 'kb'] }, '/verifiers', /at most 4/],
    [{ verifiers: 'kb' }, '/verifiers', /./],
    [{ verifiers: [{ name: 'kb', option: {} }] }, '/verifiers/0/option', /not a field here/],
    [{ verifiers: [5] }, '/verifiers/0', /got 5, expected the name of a verifier/],
    [{ verifiers: [{ name: 'web', options: { a: '\u0000' } }] }, '/verifiers/0/options/a', /./],
    [{ async_mode: 'yes' }, '/async_mode', /./],
    [{ force_reverify: null }, '/force_reverify', /./],
    [{ verifier: ['kb'] }, '/verifier', /not a field here/],
  ])('refuses %j', async (body, pointer, detail) => {
    const { project, path } = await newTrace()
    const refused = await api.post(project, `${path}/verify`, body)
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request'])
    const faults: { pointer: string; detail: string }[] = refused.body.errors
    const fault = faults.find((each) => each.pointer === pointer)
    expect(fault?.detail, JSON.stringify(faults)).toMatch(detail)
    expect(await countRuns(project)).toBe(0)
  })

  test('a trace id may be 32 hex digits; both spellings are one trace', async () => {
    const { project, trace } = await newTrace()
    const hex = trace.replaceAll('-', '').toUpperCase()
    const first = await api.post(project, `/traces/${hex}/verify`)
    const second = await api.post(project, `/traces/${trace}/verify`)
    expect([first.body.run_id, first.body.trace_id]).toEqual([second.body.run_id, trace])
    expect((await api.get(project, `/traces/${hex}`)).body.run_id).toBe(first.body.run_id)
    expect((await api.post(project, '/traces/not-a-trace/verify')).status).toBe(400)
  })

  test('of 20 parallel requests one starts a run', async () => {
    const { project, path } = await newTrace()
    const force_reverify = true
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        api.post(project, `${path}/verify`, at % 2 ? { force_reverify } : {}),
      ),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(replies.map(({ body }) => body.run_id)).size).toBe(1)
    expect(await countRuns(project)).toBe(1)
  })

  test('a verified trace returns its result and starts nothing, unless forced', async () => {
    const { project, path, run_id } = await newVerified()
    const again = await api.post(project, `${path}/verify`)
    expect(again).toMatchObject({
      status: 200,
      body: {
        ...{ status: 'verified', run_id, trust_score: expect.any(Number) },
        message: 'Verified 2 claims: 1 supported, 1 not found.',
      },
    })
    expect(await countRuns(project)).toBe(1)
    const forced = await api.post(project, `${path}/verify`, { force_reverify: true })
    expect(forced).toMatchObject({ status: 202, body: { status: 'pending', trust_score: null } })
    expect(forced.body.run_id).not.toBe(run_id)
  })

  test('a failed trace is verified again', async () => {
    const { project, path } = await newTrace()
    const { body } = await api.post(project, `${path}/verify`)
    await failRun(body.run_id)
    expect((await api.get(project, path)).body).toMatchObject({
      ...{ status: 'failed', message: 'The trace has no answer.', run_id: body.run_id },
      error: { code: 'no_answer' },
    })
    const again = await api.post(project, `${path}/verify`)
    expect([again.status, again.body.run_id === body.run_id]).toEqual([202, false])
  })

  test('without async_mode the answer is the result', async () => {
    const { project, path } = await newTrace()
    const waiting = api.post(project, `${path}/verify`, { async_mode: false })
    const run_id = await pendingRun(project)
    await api.endRun(run_id, twoClaims)
    const { status, body } = await waiting
    expect([status, body.status, body.trust_score]).toEqual([200, 'verified', 0.9])
  })

  test('without async_mode a failure and a cancellation are answered', async () => {
    for (const end of [failRun, cancelPending]) {
      const { project, path } = await newTrace()
      const waiting = api.post(project, `${path}/verify`, { async_mode: false })
      await end(await pendingRun(project), project, path)
      expect(await waiting).toMatchObject({ status: 200, body: { status: 'failed' } })
    }
  })

  test('a wait that takes too long answers pending', async () => {
    const impatient = await openVerificationApi({ ...api.deps, wait_ms_max: 50 })
    try {
      const { project, path } = await newTrace()
      const { status, body } = await impatient.post(project, `${path}/verify`, {
        async_mode: false,
      })
      expect([status, body.status]).toEqual([202, 'pending'])
    } finally {
      await impatient[Symbol.asyncDispose]()
    }
  })

  test('a flood of waiting requests is refused and starts nothing; another project waits', async () => {
    const { project, path } = await newTrace()
    const other = await newTrace()
    const { body: run } = await api.post(project, `${path}/verify`)
    await api.bringRun(project, 'task-2')
    const refused: VerificationReply[] = []
    const flood = Array.from({ length: maxProjectWaits + 24 }, async () => {
      const reply = await api.post(project, `${path}/verify`, { async_mode: false })
      if (reply.status === 429) refused.push(reply)
      return reply.status
    })
    await eventually('the refusals', async () => refused.length === 24)
    expect(refused[0]?.body).toMatchObject({
      code: 'rate_limited',
      detail:
        'Limit reached: waiting verifications of a project at one time: 16. Try again shortly.',
    })
    const byTask = await api.post(project, '/tasks/task-2/verify', { async_mode: false })
    expect([byTask.status, await countRuns(project)]).toEqual([429, 1])
    expect((await api.post(project, `${path}/verify`)).status).toBe(202)

    const waiting = api.post(other.project, `${other.path}/verify`, { async_mode: false })
    await api.endRun(await pendingRun(other.project), twoClaims)
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'verified' } })

    await api.endRun(run.run_id, twoClaims)
    const statuses = await Promise.all(flood)
    expect(statuses.filter((status) => status === 200)).toHaveLength(maxProjectWaits)
    const body = { async_mode: false, force_reverify: true }
    const later = api.post(project, `${path}/verify`, body)
    await api.endRun(await pendingRun(project), twoClaims)
    expect((await later).status).toBe(200)
  })

  test('a full queue refuses, also a task', async () => {
    const { project, path } = await newTrace()
    const { body } = await api.post(project, `${path}/verify`)
    const run = await api.db
      .selectFrom('verification_runs')
      .selectAll()
      .where('id', '=', body.run_id)
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: 999 }, () => ({
      ...{ ...run, id: randomUUID(), trace_id: randomUUID(), verifiers: '[]', error: null },
      ...{ context: null, trust: null, counts: null, verifier_runs: null },
    }))
    await api.db.insertInto('verification_runs').values(rows).execute()
    await api.bringRun(project, 'task-2')
    const full = await api.post(project, '/tasks/task-2/verify')
    expect([full.status, full.body.code]).toEqual([429, 'verification_queue_full'])
    expect((await api.post(project, `${path}/verify`)).body.run_id).toBe(body.run_id)
  })
})

async function pendingRun(project_id: string): Promise<string> {
  const run = await eventually('a run is pending', () =>
    api.db
      .selectFrom('verification_runs')
      .select('id')
      .where('project_id', '=', project_id)
      .where('state', '=', 'pending')
      .executeTakeFirst(),
  )
  return run.id
}

async function failRun(run_id: string): Promise<void> {
  await api.db
    .updateTable('verification_runs')
    .set({ state: 'failed', ended_at: new Date() })
    .set({ error: JSON.stringify({ code: 'no_answer', message: 'The trace has no answer.' }) })
    .where('id', '=', run_id)
    .execute()
}

async function cancelPending(_run_id: string, project: string, path: string): Promise<void> {
  await api.post(project, `${path}/cancel`)
}

describe('result', () => {
  test('a trace without a run is not verified', async () => {
    const { project, trace, path } = await newTrace()
    expect(await api.get(project, path)).toMatchObject({
      status: 200,
      body: {
        ...{ trace_id: trace, task_id: 'task-1', status: 'not_verified', trust_score: null },
        ...{ run_id: null, stale: false, verifiers: [], created_at: null },
        counts: {
          supported: 0,
          likely: 0,
          contradicted: 0,
          not_found: 0,
          unverifiable: 0,
          skipped: 0,
        },
      },
    })
    expect((await api.get(project, `${path}/summary`)).body).toMatchObject({
      ...{ status: 'not_verified', run_id: null, worst_claims: [], overridden: 0 },
    })
    expect((await api.get(project, `${path}/claims`)).body).toEqual({
      ...{ run_id: null, claims: [], total: 0, next_cursor: null },
    })
    expect((await api.get(project, `${path}/runs`)).body).toEqual({
      ...{ runs: [], total: 0, next_cursor: null },
    })
    const diff = await api.get(project, `${path}/diff`)
    expect([diff.status, diff.body.code]).toEqual([404, 'verification_run_not_found'])
  })

  test('a verified trace shows score, counts and claims with their offsets', async () => {
    const { project, trace, path, run_id } = await newVerified()
    expect((await api.get(project, path)).body).toMatchObject({
      ...{ trace_id: trace, status: 'verified', run_id, trust_score: 0.9, coverage: 0.5 },
      ...{ claims_total: 2, caps: [], formula_version: 'trust-1', stale: false },
      ...{ interval: [expect.any(Number), expect.any(Number)], context: { sources: 2 } },
      counts: {
        supported: 1,
        likely: 0,
        contradicted: 0,
        not_found: 1,
        unverifiable: 0,
        skipped: 0,
      },
    })
    const claims = await api.get(project, `${path}/claims`)
    expect(claims.body).toMatchObject({ run_id, total: 2, next_cursor: null })
    expect(claims.body.claims[1]).toMatchObject({
      ...{ position: 1, text: 'It is due in May.', at: [100, 117], verdict: 'not_found' },
      ...{ effective_verdict: 'not_found', override: null, probability: null, weight: 0 },
      results: [{ verifier: 'kb', verdict: 'not_found', note: 'kb: not_found' }],
    })
    const found = await api.get(project, `${path}/claims?verdict=not_found`)
    expect(found.body.claims).toEqual([claims.body.claims[1]])
    expect(found.body.total).toBe(1)
  })

  test('the newest run decides the status; claims are those of the newest verified run', async () => {
    const made = await newVerified()
    const { project, path, run_id } = made
    const { body } = await api.post(project, `${path}/verify`, { force_reverify: true })
    expect((await api.get(project, path)).body).toMatchObject({
      ...{ status: 'pending', trust_score: null, run_id: body.run_id },
    })
    expect((await api.get(project, `${path}/claims`)).body.run_id).toBe(run_id)
    expect((await api.get(project, `${path}/summary`)).body).toMatchObject({
      ...{ status: 'pending', run_id, trust_score: 0.9 },
    })
    await api.post(project, `${path}/cancel`)
    expect((await api.get(project, path)).body).toMatchObject({ status: 'verified', run_id })
  })

  test('a result is stale when the trace got another answer', async () => {
    const { project, trace, path, run_id } = await newVerified()
    const [answer] = await api.bench.store.traceObservations(project, { trace_id: trace, limit: 9 })
    if (answer === undefined) throw new Error('the trace has no observation')
    await api.db
      .updateTable('verification_runs')
      .set({ answer_observation_id: answer.observation_id, answer_chars: 24 })
      .set({ answer_digest: await digestNow(project, trace) })
      .where('id', '=', run_id)
      .execute()
    const later = { start_time: answer.start_time + 60_000_000_000n, observation_id: 'later' }
    await api.bench.bring([{ ...answer, ...later, end_time: later.start_time }])
    expect((await api.get(project, path)).body).toMatchObject({ stale: false })
    const other = JSON.stringify([{ role: 'assistant', content: 'It is over $41.' }])
    const last = { start_time: later.start_time + 1n, observation_id: 'last', output: other }
    await api.bench.bring([{ ...answer, ...last, end_time: last.start_time }])
    expect((await api.get(project, path)).body).toMatchObject({ stale: true, status: 'verified' })
  })

  test('the summary lists the worst claims first', async () => {
    const { project, path } = await newVerified([
      { text: 'a', verdict: 'supported' },
      { text: 'b', verdict: 'not_found' },
      ...['c', 'd', 'e', 'f'].map((text) => ({ text, verdict: 'unverifiable' as const })),
      { text: 'g', verdict: 'contradicted' },
    ])
    const { body } = await api.get(project, `${path}/summary`)
    expect(body.worst_claims.map(({ text }: { text: string }) => text)).toEqual([
      ...['g', 'b', 'c', 'd', 'e'],
    ])
    expect(body.worst_claims[0]).toMatchObject({ verdict: 'contradicted', at: [600, 601] })
    expect(body.verifiers).toEqual([
      {
        name: 'kb',
        counts: {
          supported: 1,
          likely: 0,
          contradicted: 1,
          not_found: 1,
          unverifiable: 4,
          skipped: 0,
        },
      },
    ])
  })
})

async function digestNow(project_id: string, trace_id: string): Promise<string> {
  const trace = { project_id, trace_id, task_id: 'task-1', user_id: null, environment: null }
  const { signal } = new AbortController()
  const { answer } = await readAnswer(
    api.deps,
    { ...trace, trace_start: '2026-01-01T00:00:00Z' },
    signal,
  )
  return answer.digest
}

describe('pages', () => {
  test('claims are paged; a cursor keeps its run while a new one is verified', async () => {
    const claims = Array.from({ length: 5 }, (_, at) => ({
      ...{ text: `claim ${at}`, verdict: 'supported' as const },
    }))
    const made = await newVerified(claims)
    const { project, path, run_id } = made
    const first = await api.get(project, `${path}/claims?limit=2`)
    expect(first.body).toMatchObject({ run_id, total: 5 })
    await verifyAgain(made, twoClaims)
    const second = await api.get(project, `${path}/claims?limit=2&cursor=${first.body.next_cursor}`)
    const rest = await api.get(project, `${path}/claims?cursor=${second.body.next_cursor}`)
    const all = [first, second, rest].flatMap(({ body }) => body.claims)
    expect(all.map(({ text }) => text)).toEqual(claims.map(({ text }) => text))
    expect(rest.body).toMatchObject({ run_id, next_cursor: null })
  })

  test('a cursor of another list, run, project or shape is refused', async () => {
    const mine = await newVerified()
    const theirs = await newVerified()
    const list = `claims ${mine.trace}  `
    const hostile = [encodeCursor(list, [theirs.run_id, 0]), encodeCursor(list, [randomUUID(), 0])]
    for (const cursor of hostile) {
      const { status } = await api.get(mine.project, `${mine.path}/claims?cursor=${cursor}`)
      expect(status).toBe(404)
    }
    const refused = [
      encodeCursor(list, ["' or true --", 0]),
      encodeCursor(list, [mine.run_id, -1]),
      encodeCursor(list, [mine.run_id, 1.5]),
      encodeCursor(list, [mine.run_id, null]),
      encodeCursor(`claims ${theirs.trace}  `, [mine.run_id, 0]),
      encodeCursor(`claims ${mine.trace} supported `, [mine.run_id, 0]),
      'AAAA',
    ]
    for (const cursor of refused) {
      const reply = await api.get(mine.project, `${mine.path}/claims?cursor=${cursor}`)
      expect([reply.status, reply.body.code], cursor).toEqual([400, 'invalid_cursor'])
    }
    const end = encodeCursor(list, [mine.run_id, 1e15])
    const beyond = await api.get(mine.project, `${mine.path}/claims?cursor=${end}`)
    expect(beyond.body).toMatchObject({ claims: [], total: 2, next_cursor: null })
  })

  test('runs of a trace and of a task are listed, newest first', async () => {
    const made = await newVerified()
    const { project, path, run_id } = made
    const second = await verifyAgain(made, [])
    await api.bench.bring([])
    for (const list of [`${path}/runs`, '/tasks/task-1']) {
      const page = await api.get(project, `${list}?limit=1`)
      expect(page.body).toMatchObject({ runs: [{ run_id: second }], total: 2 })
      const next = await api.get(project, `${list}?cursor=${page.body.next_cursor}`)
      expect(next.body).toMatchObject({ runs: [{ run_id }], next_cursor: null })
    }
  })

  test('the calls of a run are listed with their cost', async () => {
    const { project, run_id } = await newVerified()
    const call = (key: string, id: string) => ({
      ...{ id, run_id, project_id: project, key, verifier: 'web', model: 'searxng' },
      ...{ outcome: 'answered', reply: '{"results":[]}', nano_dollars: 5_000_000 },
      ...{ duration_ms: 12, created_at: new Date() },
    })
    const ids = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002']
    const [one = '', two = ''] = ids.map((id) => id.replace(/^.{8}/, run_id.slice(0, 8)))
    await api.db
      .insertInto('verification_calls')
      .values([call('a', one), call('b', two)])
      .execute()
    const page = await api.get(project, `/runs/${run_id}/calls?limit=1`)
    expect(page.body).toMatchObject({
      calls: [{ call_id: one, model: 'searxng', cost_usd: '0.005', reply: { results: [] } }],
      total: 2,
    })
    const next = await api.get(project, `/runs/${run_id}/calls?cursor=${page.body.next_cursor}`)
    expect(next.body).toMatchObject({ calls: [{ call_id: two }], next_cursor: null })
  })
})

describe('who', () => {
  test('another project sees neither traces, runs, claims nor tasks, without a difference', async () => {
    const { project, trace, run_id } = await newVerified()
    const { body } = await api.get(project, `/traces/${trace}/claims`)
    const claim_id = body.claims[0].claim_id
    const stranger = await api.bench.newProject()
    const none = randomUUID()
    const paths = (ids: { trace: string; run: string; claim: string; task: string }) =>
      [
        ['POST', `/traces/${ids.trace}/verify`],
        ['GET', `/traces/${ids.trace}`],
        ['GET', `/traces/${ids.trace}/summary`],
        ['GET', `/traces/${ids.trace}/claims`],
        ['GET', `/traces/${ids.trace}/runs`],
        ['GET', `/traces/${ids.trace}/diff`],
        ['POST', `/traces/${ids.trace}/estimate`],
        ['POST', `/traces/${ids.trace}/cancel`],
        ['GET', `/runs/${ids.run}`],
        ['GET', `/runs/${ids.run}/calls`],
        ['POST', `/claims/${ids.claim}/override`],
        ['DELETE', `/claims/${ids.claim}/override`],
        ['GET', `/tasks/${ids.task}`],
        ['POST', `/tasks/${ids.task}/verify`],
      ] as const
    const absent = paths({ trace: none, run: none, claim: none, task: 'no-task' })
    const theirs = paths({ trace, run: run_id, claim: claim_id, task: 'task-1' })
    for (const [at, [method, path]] of theirs.entries()) {
      const override = { verdict: 'supported', reason: 'mine' }
      const about = {
        project_id: stranger,
        ...(path.endsWith('override') && method === 'POST' && { body: override }),
      }
      const reply = await api.call(method, path, about)
      const unknown = await api.call(method, absent[at]?.[1] ?? '', about)
      expect([reply.status, reply.body.code], path).toEqual([404, unknown.body.code])
      expect(reply.body.title).toBe(unknown.body.title)
    }
    const mine = await api.get(project, `/traces/${trace}/claims`)
    expect(mine.body.claims[0].override).toBeNull()
    expect((await api.get(stranger, `/traces/${trace}/claims?run_id=${run_id}`)).status).toBe(404)
  })

  test('viewers read and editors verify; keys of projects do neither', async () => {
    const { project, path, run_id } = await newVerified()
    const { body } = await api.get(project, `${path}/claims`)
    const claim = `/claims/${body.claims[0].claim_id}/override`
    const writes = [
      [`${path}/verify`, {}],
      [`${path}/cancel`, undefined],
      ['/tasks/task-1/verify', {}],
      [claim, { verdict: 'supported', reason: 'seen' }],
    ] as const
    for (const [write, given] of writes) {
      const viewer = { project_id: project, headers: tokenOf('viewer', project), body: given }
      expect([write, (await api.call('POST', write, viewer)).status]).toEqual([write, 403])
    }
    const reads = ['', '/summary', '/claims', '/runs', '/diff'].map((end) => `${path}${end}`)
    for (const read of [...reads, `/runs/${run_id}`, '/tasks/task-1', '/config', '/policy']) {
      const status = async (headers: Record<string, string>) =>
        (await api.get(project, read, headers)).status
      expect([read, await status(tokenOf('viewer', project))]).not.toEqual([read, 403])
      expect([read, await status(keyOf(project, 'traces:read verification:run'))]).toEqual([
        ...[read, 401],
      ])
      expect([read, await status({})]).toEqual([read, 401])
    }
    const policy = { project_id: project, body: { enabled: true } }
    expect((await api.call('PUT', '/policy', policy)).status).toBe(403)
  })
})

describe('cancel', () => {
  test('a pending run is cancelled with its job, and the call can be repeated', async () => {
    const { project, path } = await newTrace()
    const none = await api.post(project, `${path}/cancel`)
    expect([none.status, none.body.code]).toEqual([404, 'verification_run_not_found'])
    const { body } = await api.post(project, `${path}/verify`)
    const cancelled = await api.post(project, `${path}/cancel`)
    expect(cancelled).toMatchObject({
      status: 200,
      body: { run_id: body.run_id, state: 'cancelled', error: { code: 'cancelled' } },
    })
    expect((await api.post(project, `${path}/cancel`)).body).toEqual(cancelled.body)
    const jobs = await api.db
      .selectFrom('job_runs')
      .select('state')
      .where('project_id', '=', project)
      .execute()
    expect(jobs).toEqual([{ state: 'failed' }])
    expect((await api.get(project, path)).body).toMatchObject({
      ...{ status: 'not_verified', run_id: null },
    })
  })

  test('a verified run is not cancelled', async () => {
    const { project, path, run_id } = await newVerified()
    const { body } = await api.post(project, `${path}/cancel`)
    expect(body).toMatchObject({ run_id, state: 'verified' })
  })
})

describe('diff', () => {
  test('compares the two newest verified runs, or any two', async () => {
    const made = await newVerified([
      { text: 'same', verdict: 'supported' },
      { text: 'gone', verdict: 'supported' },
      { text: 'turned', verdict: 'supported' },
    ])
    const { project, trace, path, run_id } = made
    const second = await verifyAgain(made, [
      { text: 'turned', verdict: 'contradicted' },
      { text: 'same', verdict: 'supported' },
      { text: 'new', verdict: 'not_found' },
    ])
    const { body } = await api.get(project, `${path}/diff`)
    expect(body).toMatchObject({
      ...{ trace_id: trace, from: { run_id }, to: { run_id: second }, unchanged: 1 },
      score_difference: -0.5,
      added: [{ text: 'new', verdict: 'not_found' }],
      removed: [{ text: 'gone' }],
      changed: [
        { text: 'turned', from: { verdict: 'supported' }, to: { verdict: 'contradicted' } },
      ],
    })
    const third = await verifyAgain(made, [])
    const empty = await api.get(project, `${path}/diff?from=${run_id}&to=${third}`)
    expect(empty.body).toMatchObject({ score_difference: null, added: [], unchanged: 0 })
    expect(empty.body.removed).toHaveLength(3)
    const before = await api.get(project, `${path}/diff?to=${second}`)
    expect(before.body.from.run_id).toBe(run_id)
    const other = await newVerified()
    for (const query of [`from=${other.run_id}`, `to=${randomUUID()}`, 'to=x']) {
      const refused = await api.get(project, `${path}/diff?${query}`)
      expect([refused.status, refused.body.code]).toEqual([404, 'verification_run_not_found'])
    }
  })
})

describe('override', () => {
  test('a person’s verdict stays when the trace is verified again; the machine’s is shown', async () => {
    const made = await newVerified()
    const { project, path } = made
    const before = await api.get(project, `${path}/claims`)
    const claim = before.body.claims[1]
    const override = { verdict: 'supported', reason: 'The contract says May.' }
    const set = await api.post(project, `/claims/${claim.claim_id}/override`, override)
    expect(set).toMatchObject({
      status: 200,
      body: {
        ...{ verdict: 'not_found', effective_verdict: 'supported' },
        override: { ...override, created_by: 'user:user-1', created_at: expect.any(String) },
      },
    })
    await verifyAgain(made, [...twoClaims].toReversed())
    const after = await api.get(project, `${path}/claims`)
    expect(after.body.claims[0]).toMatchObject({
      ...{ verdict: 'not_found', effective_verdict: 'supported', override },
    })
    expect(after.body.claims[0].claim_id).not.toBe(claim.claim_id)
    const summary = await api.get(project, `${path}/summary`)
    expect(summary.body).toMatchObject({
      ...{ trust_score: 0.9, trust_score_with_overrides: 0.945, overridden: 1, worst_claims: [] },
    })
    const gone = await api.call('DELETE', `/claims/${claim.claim_id}/override`, {
      project_id: project,
    })
    expect(gone.status).toBe(204)
    expect((await api.get(project, `${path}/summary`)).body).toMatchObject({
      ...{ trust_score_with_overrides: 0.9, overridden: 0 },
    })
    const again = `/claims/${claim.claim_id}/override`
    expect((await api.call('DELETE', again, { project_id: project })).status).toBe(204)
  })

  test('a verdict of a person opens and withdraws the finding of its claim', async () => {
    const { project, path, run_id } = await newVerified()
    const { claims } = (await api.get(project, `${path}/claims`)).body
    await api.db
      .updateTable('verification_runs')
      .set({ answer_observation_id: 'o1', answer_digest: 'd', answer_chars: 9 })
      .where('id', '=', run_id)
      .execute()
    const findings = () =>
      api.bench.db
        .selectFrom('findings')
        .select(['type', 'state'])
        .where('project_id', '=', project)
        .execute()
    const url = `/claims/${claims[0].claim_id}/override`
    const type = 'contradicted_claim'
    await api.post(project, url, { verdict: 'contradicted', reason: 'It is $41.' })
    expect(await findings()).toEqual([{ type, state: 'open' }])
    await api.post(project, url, { verdict: 'supported', reason: 'It is $40.' })
    expect(await findings()).toEqual([{ type, state: 'withdrawn' }])
    await api.post(project, url, { verdict: 'contradicted', reason: 'It is $41.' })
    expect(await findings()).toEqual([{ type, state: 'open' }])
    await api.call('DELETE', url, { project_id: project })
    expect(await findings()).toEqual([{ type, state: 'withdrawn' }])
  })

  test('an override whose findings cannot be changed is not stored', async () => {
    const { project, path } = await newVerified()
    const { claims } = (await api.get(project, `${path}/claims`)).body
    const onOverride = () => Promise.reject(new Error('the findings are locked'))
    const failing = await openVerificationApi({ ...api.deps, onOverride })
    const url = `/claims/${claims[0].claim_id}/override`
    const body = { verdict: 'supported', reason: 'seen' }
    expect((await failing.post(project, url, body)).status).toBe(500)
    await failing[Symbol.asyncDispose]()
    expect((await api.get(project, `${path}/summary`)).body.overridden).toBe(0)
  })

  test.each<[object, string]>([
    [{ verdict: 'not_found', reason: 'x' }, '/verdict'],
    [{ verdict: 'supported' }, '/reason'],
    [{ verdict: 'supported', reason: '   ' }, '/reason'],
    [{ verdict: 'supported', reason: 'x'.repeat(2_001) }, '/reason'],
    [{ verdict: 'supported', reason: 'a\u0000b' }, '/reason'],
    [{ verdict: 'supported', reason: 'x', by: 'me' }, '/by'],
  ])('refuses %j', async (body, pointer) => {
    const { project, path } = await newVerified()
    const { claims } = (await api.get(project, `${path}/claims`)).body
    const refused = await api.post(project, `/claims/${claims[0].claim_id}/override`, body)
    expect(refused.status).toBe(400)
    expect(refused.body.errors.map((each: { pointer: string }) => each.pointer)).toContain(pointer)
  })

  test('an unknown claim is not found', async () => {
    const project = await api.bench.newProject()
    for (const id of [randomUUID(), 'x', '%27']) {
      const body = { verdict: 'supported', reason: 'x' }
      const reply = await api.post(project, `/claims/${id}/override`, body)
      expect([reply.status, reply.body.code]).toEqual([404, 'claim_not_found'])
    }
  })
})

describe('estimate', () => {
  test('shows the greatest cost, and runs nothing', async () => {
    const project = await api.bench.newProject()
    const answer = 'The invoice is over $40. It was paid on 3 May 2026. The supplier is in Oslo.'
    const trace = await api.bringRun(project, 'task-1', { answer })
    const { status, body } = await api.post(project, `/traces/${trace}/estimate`, {
      verifiers: ['kb', 'web', 'multi_model'],
    })
    expect(status).toBe(200)
    const { claims } = body
    expect(claims).toBeGreaterThan(1)
    expect(body).toMatchObject({
      ...{ trace_id: trace, calls: claims, cost_usd_max: `${claims / 100}`, error: null },
      verifiers: [
        { name: 'kb', available: true, calls: 0, cost_usd_max: '0' },
        { name: 'web', available: true, claims, calls: claims },
        { name: 'multi_model', available: false, reason: 'No model is configured.', calls: 0 },
      ],
    })
    expect(await countRuns(project)).toBe(0)
    const jobs = api.db.selectFrom('job_runs').select('id').where('project_id', '=', project)
    expect(await jobs.execute()).toEqual([])
    const first = await api.post(project, `/traces/${trace}/estimate`)
    expect(first.body.verifiers.map(({ name }: { name: string }) => name)).toEqual(['kb', 'web'])
  })

  test('a trace without an answer has an error instead', async () => {
    const { project } = await newTrace()
    const rows = await api.bench.store.taskObservations(project, 'task-1', { limit: 9 })
    const asking = rows.find(({ tool_calls }) => tool_calls.length > 0)
    const { body } = await api.post(project, `/traces/${asking?.trace_id}/estimate`)
    expect(body).toMatchObject({ claims: 0, error: { code: 'no_answer' }, cost_usd_max: '0' })
  })
})

describe('many estimates at one time', () => {
  test('wait or are refused with Retry-After, and other projects get theirs', async () => {
    const flooding = await newTrace()
    const other = await newTrace()
    const replies = Array.from({ length: 30 }, () =>
      api.post(flooding.project, `${flooding.path}/estimate`),
    )
    expect((await api.post(other.project, `${other.path}/estimate`)).status).toBe(200)
    const ended = await Promise.all(replies)
    const refused = ended.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(ended.filter(({ status }) => status === 200)).toHaveLength(30 - refused.length)
    expect(30 - refused.length).toBeGreaterThanOrEqual(5)
    expect(refused[0]).toMatchObject({ body: { code: 'rate_limited' } })
  })
})

describe('task', () => {
  test('verifies the trace with the last answer', async () => {
    const { project, trace } = await newTrace({ task_id: 'a task/1' })
    const path = `/tasks/${encodeURIComponent('a task/1')}`
    expect((await api.get(project, path)).body).toMatchObject({
      ...{ task_id: 'a task/1', status: 'not_verified', trust_score: null, runs: [] },
    })
    const { status, body } = await api.post(project, `${path}/verify`)
    expect([status, body.trace_id]).toEqual([202, trace])
    expect((await api.get(project, path)).body).toMatchObject({
      ...{ status: 'pending', runs: [{ run_id: body.run_id, trigger: 'task' }], total: 1 },
    })
    const unknown = await api.post(project, '/tasks/none/verify')
    expect([unknown.status, unknown.body.code]).toEqual([404, 'task_not_found'])
  })

  test('a call that asks for a tool is no answer, even when it is the last one', async () => {
    const project = await api.bench.newProject()
    const trace = await api.bringRun(project, 'task-1')
    const [row] = await api.bench.store.traceObservations(project, { trace_id: trace, limit: 1 })
    if (row === undefined) throw new Error('the trace has no observation')
    const start_time = row.start_time + 7_200_000_000_000n
    const tool_calls = [{ id: 'c1', name: 'get_invoice', arguments: '{}' }]
    const later = { trace_id: randomUUID(), observation_id: 'asks', start_time, tool_calls }
    await api.bench.bring([{ ...row, ...later, end_time: start_time + 1n }])
    const { body } = await api.post(project, '/tasks/task-1/verify')
    expect(body.trace_id).toBe(trace)
  })
})

test('config shows verifiers, limits, models and the policy', async () => {
  const project = await api.bench.newProject()
  const { status, body } = await api.get(project, '/config')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    formula_version: 'trust-1',
    models: [],
    limits: { claims_max: 500, wait_ms_max: 5_000, budget_usd_per_day: '1' },
    policy: { project_id: project, enabled: false, version: 0 },
  })
  expect(body.verifiers).toMatchObject([
    { name: 'kb', available: true, reason: null, weight: 1, cost: 'free' },
    {
      ...{ name: 'web', weight: 0.8, calibration: { calibrated: false, labels_needed: 200 } },
      options: { properties: { domains_min: { default: 2, minimum: 2 } } },
    },
    { name: 'multi_model', available: false, reason: 'No model is configured.' },
  ])
})
