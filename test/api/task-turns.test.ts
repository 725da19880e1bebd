import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Turn, TurnThread } from '../../src/capabilities/tasks/turns/turn-schema.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { agentRun, type RunSource } from '../corpus/agent-run.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import { keyOf, operatorOf, tokenOf } from '../support/task-api.ts'

let api: DetectionApi
let project = ''
beforeAll(async () => {
  api = await openDetectionApi()
  project = await api.bench.newProject()
  for (const source of ['proxy', 'otlp_no_content'] as const) {
    await api.bench.bring(looping(source).observations())
  }
})
afterAll(() => api?.[Symbol.asyncDispose]())

const answer = 'The hopper may be returned within 30 days.'

function looping(source: RunSource, task_id: string = source) {
  return agentRun(`${project} ${task_id}`, {
    ...{ project_id: project, task_id, source, tools: ['search', 'write'] },
  })
    .system('You answer from documents.')
    .user('May I return a cracked hopper?')
    .times(4, (run) =>
      run.tool({ name: 'search', args: { query: 'refund for a cracked hopper' } }, 'nothing found'),
    )
    .tool({ name: 'write', args: { text: 'x'.repeat(9_000) } }, 'written')
    .assistant(answer)
}

type Page = {
  turns: Turn[]
  threads: TurnThread[]
  total: number
  content: string
  next_cursor: string | null
  is_current: boolean
}

async function turnsPage(task_id: string, query = '', in_project = project): Promise<Page> {
  const { status, body } = await api.get(in_project, `/tasks/${task_id}/turns${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body as Page
}

async function allTurns(task_id: string, limit: number): Promise<Turn[]> {
  const turns: Turn[] = []
  let cursor = ''
  for (;;) {
    const page = await turnsPage(task_id, `?limit=${limit}${cursor}`)
    turns.push(...page.turns)
    if (page.next_cursor === null) return turns
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}

describe('the turns of a task', () => {
  test('have what is new in each call', async () => {
    const { turns, threads, ...about } = await turnsPage('proxy')
    expect(about).toMatchObject({ task_id: 'proxy', total: 6, content: 'full', next_cursor: null })
    expect(threads).toMatchObject([{ thread: 0, kind: 'root', parent: null, turns: 6 }])
    expect(turns.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5])
    expect(turns[2]).toMatchObject({
      history: { sent: 'all', earlier_messages: 5, new_messages: 1, break: null },
      messages: [{ role: 'tool', text: 'nothing found', tool_use: 1 }],
      tool_uses: [{ title: 'search: refund for a cracked hopper', result: { cut: false } }],
      ...{ counted_once: false, provider: 'openai', model: 'gpt-4o-mini', status: 'ok' },
      tokens: { source: 'provider' },
    })
    expect(turns[4]?.tool_uses[0]?.arguments).toMatchObject({ characters: 9_011, cut: true })
    expect(turns[5]).toMatchObject({ answer: { text: { text: answer } }, verification: null })
  })

  test('have the findings of the task, and the iterations of its loop', async () => {
    const detected = await api.post(project, '/tasks/proxy/detect')
    expect(detected.status).toBe(200)
    const { body } = await api.get(project, '/tasks/proxy/findings')
    const findings = body['findings'] as { kind: string; finding_id: string; repeats: number }[]
    const [loop] = findings.filter(({ kind }) => kind === 'loop')
    expect(loop).toMatchObject({ start_step: 0, end_step: 3, repeats: 4 })
    const { turns, is_current } = await turnsPage('proxy')
    expect(is_current).toBe(true)
    expect(turns.map(({ iteration }) => iteration?.number)).toEqual([
      ...[1, 2, 3, 4],
      ...[undefined, undefined],
    ])
    expect(turns[1]?.iteration).toMatchObject({ finding_id: loop?.finding_id, of: 4, position: 1 })
    expect(turns[1]?.findings).toContain(loop?.finding_id)
    const named = new Set(turns.flatMap((turn) => turn.findings))
    expect(named).toEqual(new Set(findings.map(({ finding_id }) => finding_id)))
  })

  test('are paged, and cut as asked', async () => {
    const whole = await turnsPage('proxy')
    expect(await allTurns('proxy', 1)).toEqual(whole.turns)
    expect(await allTurns('proxy', 4)).toEqual(whole.turns)
    const { turns } = await turnsPage('proxy', '?text_chars=100')
    expect(turns[4]?.tool_uses[0]?.arguments?.text).toHaveLength(100)
  })

  test('without content have names, times and numbers', async () => {
    const { turns, content } = await turnsPage('otlp_no_content')
    expect(content).toBe('none')
    expect(turns).toHaveLength(6)
    expect(turns[1]).toMatchObject({
      ...{ content: 'none', messages: [], answer: { text: null, reasoning: null } },
      history: { sent: 'unknown', earlier_messages: null },
      tool_uses: [{ title: 'search', arguments: null, result: null, answered: true }],
    })
  })

  test('keep reasoning apart from the answer', async () => {
    const rows = looping('proxy', 'reasoned').observations()
    const last = rows.at(-1)
    if (last === undefined) throw new Error('no rows')
    const said = { role: 'assistant', content: answer, reasoning_content: 'I looked four times.' }
    await api.bench.bring([...rows.slice(0, -1), { ...last, output: JSON.stringify([said]) }])
    const { turns } = await turnsPage('reasoned')
    expect(turns.at(-1)?.answer).toMatchObject({
      text: { text: answer },
      reasoning: { text: 'I looked four times.', cut: false },
    })
  })
})

describe('rows that arrive late', () => {
  test('neither repeat nor hide a turn of the next pages', async () => {
    const rows = looping('proxy', 'late').observations()
    const [first, second, ...others] = rows
    if (first === undefined || second === undefined) throw new Error('no rows')
    await api.bench.bring([first, ...others])
    const page = await turnsPage('late', '?limit=2')
    expect(page).toMatchObject({ total: 5 })
    await api.bench.bring([second])
    const cursor = encodeURIComponent(page.next_cursor ?? '')
    const next = await turnsPage('late', `?cursor=${cursor}`)
    expect(next.total).toBe(6)
    const ids = [...page.turns, ...next.turns].map(({ observation_id }) => observation_id)
    expect(ids).toEqual([first, ...others].map(({ observation_id }) => observation_id))
    // The late call has its place in a new list.
    const all = await allTurns('late', 2)
    expect(all.map(({ observation_id }) => observation_id)).toEqual(
      rows.map(({ observation_id }) => observation_id),
    )
    expect(all.map(({ history }) => history.earlier_messages)).toEqual([0, 3, 5, 7, 9, 11])
  })

  test('a second record of a call is counted once', async () => {
    const rows = looping('proxy', 'twice').observations()
    const [call] = rows
    if (call === undefined) throw new Error('no rows')
    const span: Observation = {
      ...{ ...call, source: 'otlp', observation_id: 'aaaaaaaaaaaaaaa1', input: '', output: '' },
      ...{ content_state: 'none', counted_with: call.observation_id },
    }
    await api.bench.bring([...rows, span])
    const { turns, total } = await turnsPage('twice')
    expect(total).toBe(6)
    expect(turns[0]).toMatchObject({
      counted_once: true,
      further_records: [{ trace_id: call.trace_id, observation_id: 'aaaaaaaaaaaaaaa1' }],
    })
    expect(turns[1]?.counted_once).toBe(false)
  })

  test('deleted observations are gone from the next request', async () => {
    const rows = looping('proxy', 'deleted').observations()
    await api.bench.bring(rows)
    expect((await turnsPage('deleted')).total).toBe(6)
    await api.bench.store.eraseRows(project, { rows: rows.slice(-1), users: [] })
    expect((await turnsPage('deleted')).total).toBe(5)
  })
})

test('claims of a verified answer are at its turn, with offsets and the verdict of a person', async () => {
  const rows = looping('proxy', 'verified').observations()
  await api.bench.bring(rows)
  const last = rows.at(-1)
  const run_id = newId()
  const digest = createHash('sha256').update(answer).digest('hex')
  const { db } = api.bench
  await sql`insert into verification_runs (id, project_id, trace_id, task_id, trace_start, state,
      trigger, requested_by, verifiers, answer_observation_id, answer_digest, trust_score, claims, created_at)
    values (${run_id}, ${project}, ${last?.trace_id}, 'verified', now(), 'verified', 'request', 'user:1', '[]',
      ${last?.observation_id}, ${digest}, 0.4, 1, now())`.execute(db)
  await sql`insert into verification_claims (id, run_id, project_id, trace_id, position, text, starts_at, ends_at,
      kind, digest, verdict, probability, weight, results, checked_values)
    values (${newId()}, ${run_id}, ${project}, ${last?.trace_id}, 0, ${answer}, 0, ${answer.length}, 'fact', 'd1',
      'not_found', 0.4, 1, '[]', '[]')`.execute(db)
  const { turns } = await turnsPage('verified')
  expect(turns.at(-1)?.verification).toMatchObject({
    ...{ run_id, trace_id: last?.trace_id, trust_score: 0.4, of_this_text: true, claims_total: 1 },
    claims: [{ text: answer, at: [0, answer.length], verdict: 'not_found' }],
  })
  expect(turns.slice(0, -1).every(({ verification }) => verification === null)).toBe(true)
  await sql`insert into verification_overrides (project_id, trace_id, claim_digest, verdict, reason, machine,
      trace_start, created_at, created_by)
    values (${project}, ${last?.trace_id}, 'd1', 'supported', 'known', '[]', now(), now(), 'user:1')`.execute(
    db,
  )
  const again = await turnsPage('verified', '?limit=200')
  expect(again.turns.at(-1)?.verification?.claims).toMatchObject([{ verdict: 'supported' }])
})

test('a key with tasks:read reads verdicts on the answer, not what they rest on', async () => {
  const { status, body } = await api.call('GET', '/tasks/verified/turns?limit=200', {
    headers: keyOf(project, 'tasks:read'),
  })
  expect(status).toBe(200)
  const { verification } = (body as Page).turns.at(-1) ?? {}
  const [claim] = verification?.claims ?? []
  expect(Object.keys(verification ?? {}).sort()).toEqual([
    ...['claims', 'claims_total', 'of_this_text', 'run_id', 'trace_id', 'trust_score'],
  ])
  expect(Object.keys(claim ?? {}).sort()).toEqual([
    ...['at', 'claim_id', 'probability', 'text', 'verdict'],
  ])
  expect(answer.slice(...(claim?.at ?? []))).toBe(claim?.text)
})

describe('refusals', () => {
  test('callers without tasks:read', async () => {
    const as = async (headers: Record<string, string>) =>
      (await api.call('GET', '/tasks/proxy/turns', { headers })).status
    expect(await as({})).toBe(401)
    expect(await as({ 'x-api-key': 'other' })).toBe(401)
    expect(await as(keyOf(project, 'tasks:write ingest:write'))).toBe(403)
    expect(await as(operatorOf(project))).toBe(403)
    expect(await as(keyOf(project, 'tasks:read'))).toBe(200)
    expect(await as(tokenOf('viewer', project))).toBe(200)
  })

  test('another tenant’s task, also when it was just read, and a missing one', async () => {
    const other = await api.bench.newProject()
    await turnsPage('proxy')
    expect(await api.get(other, '/tasks/proxy/turns')).toMatchObject({
      ...{ status: 404, body: { code: 'task_not_found' } },
    })
    await api.bench.bring(
      agentRun('other', { project_id: other, task_id: 'proxy' })
        .user('Mine.')
        .assistant('Yours.')
        .observations(),
    )
    const { turns, total } = await turnsPage('proxy', '', other)
    expect([total, turns[0]?.answer?.text?.text]).toEqual([1, 'Yours.'])
    expect((await api.get(project, `/tasks/${newId()}/turns`)).status).toBe(404)
  })

  test('a cursor of another list, and values out of bounds', async () => {
    const { next_cursor } = await turnsPage('proxy', '?limit=1')
    for (const cursor of ['abc', next_cursor ?? '']) {
      const url = `/tasks/otlp_no_content/turns?cursor=${encodeURIComponent(cursor)}`
      expect(await api.get(project, url)).toMatchObject({
        ...{ status: 400, body: { code: 'invalid_cursor' } },
      })
    }
    for (const query of ['?limit=0', '?limit=201', '?text_chars=99', '?text_chars=16385', '?x=1']) {
      expect((await api.get(project, `/tasks/proxy/turns${query}`)).status, query).toBe(400)
    }
  })

  test('no request of many at one time', async () => {
    const { turns } = await turnsPage('proxy', '?limit=2')
    const pages = await Promise.all(
      Array.from({ length: 40 }, () => turnsPage('proxy', '?limit=2')),
    )
    for (const page of pages) expect(page.turns).toEqual(turns)
  })
})
