import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { agentRun, type RunSource } from '../corpus/agent-run.ts'
import { type DetectionApi, openDetectionApi } from '../support/detection.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: DetectionApi
let project = ''
beforeAll(async () => {
  api = await openDetectionApi()
  project = await api.bench.newProject()
  for (const source of ['proxy', 'otlp', 'otlp_no_content'] as const) {
    await api.bench.bring(run(source).observations())
  }
})
afterAll(() => api?.[Symbol.asyncDispose]())

function run(source: RunSource) {
  return agentRun(`${project} ${source}`, {
    ...{ project_id: project, task_id: source, source, tools: ['look', 'write'] },
  })
    .user('Find both.')
    .assistant({
      calls: [
        { name: 'look', args: { q: 'a' } },
        { name: 'look', args: { q: 'b' } },
      ],
    })
    .results(['found a', { text: 'Error: no such place', failed: true, after_ms: 900 }])
    .tool({ name: 'write', args: { text: 'x'.repeat(9_000) } }, '429 Too Many Requests')
    .assistant({ calls: [{ name: 'write', args: '{"broken": ' }] })
    .user('Leave it.')
    .assistant('As you like.')
}

type Call = { name: string; latency_ms: number; arguments: { text: string } | null }

type Page = { content: string; next_cursor: string | null; tool_calls: Call[] }

async function toolCalls(task_id: string, query = ''): Promise<Page> {
  const { status, body } = await api.get(project, `/tasks/${task_id}/tool-calls${query}`)
  expect(status).toBe(200)
  return body as Page
}

describe('the tool calls of a task', () => {
  test('are joined with results from later requests', async () => {
    const { tool_calls, ...about } = await toolCalls('proxy')
    expect(about).toMatchObject({ task_id: 'proxy', content: 'full', total: 4, next_cursor: null })
    expect(tool_calls).toMatchObject([
      {
        ...{ name: 'look', arguments: { text: '{"q":"a"}', is_cut: false }, arguments_valid: true },
        ...{ answered: true, result: { text: 'found a' }, error: null, step: 0, orphan: null },
      },
      { name: 'look', result: { text: 'Error: no such place' }, error: 'error', step: 0 },
      { name: 'write', arguments: { is_cut: true }, error: 'outage', latency_ms: 400, step: 1 },
      { name: 'write', arguments_valid: false, answered: false, orphan: 'call', step: 2 },
    ])
    expect(tool_calls[2]?.arguments?.text).toHaveLength(4_000)
  })

  test('that an agent wrote as text say so, in each list', async () => {
    const written = agentRun(`${project} text`, { project_id: project, task_id: 'text' })
      .system('Thought, Action, Observation. Tools: search[query], finish[answer].')
      .user('When was the weir built?')
      .times(3, (agent) =>
        agent.assistant('Action: search[weir]').user('Observation: Error: no such page'),
      )
      .assistant('It is not known.')
    await api.bench.bring(written.observations())
    const { tool_calls } = await toolCalls('text')
    expect(tool_calls).toHaveLength(3)
    expect(tool_calls[0]).toMatchObject({
      ...{ name: 'search', arguments: { text: '{"input":"weir"}' }, read_from: 'text' },
      ...{ result: { text: 'Error: no such page' }, error: 'error', orphan: null },
    })
    expect((await toolCalls('proxy')).tool_calls[0]).toMatchObject({ read_from: 'call' })
    const timeline = await api.get(project, '/tasks/text/timeline?role=tool_call')
    expect(timeline.body['entries']).toMatchObject([
      { tool_name: 'search', read_from: 'text', orphan: false },
      {},
      {},
    ])
    const turns = await api.get(project, '/tasks/text/turns')
    expect(turns.body['turns']).toMatchObject([
      { tool_uses: [{ name: 'search', read_from: 'text' }] },
      { messages: [{ from_harness: true }] },
      {},
      { tool_uses: [] },
    ])
    await api.post(project, '/tasks/text/detect', { force: true })
    const { body } = await api.get(project, '/tasks/text/findings')
    const types = (body['findings'] as { type: string }[]).map(({ type }) => type)
    expect(types).toContain('repeat_error')
  })

  test('count by tool', async () => {
    expect(await toolCalls('proxy')).toMatchObject({
      tools: [
        { name: 'look', calls: 2, answered: 2, errors: 1, outages: 0, orphans: 0, error_rate: 0.5 },
        { name: 'write', calls: 2, answered: 1, errors: 0, outages: 1, orphans: 1, error_rate: 1 },
      ],
    })
  })

  test('are also read from observations of tools, with and without content', async () => {
    const listed = await toolCalls('otlp')
    expect(listed.content).toBe('full')
    expect(listed.tool_calls).toMatchObject([
      { name: 'look', result: { text: 'found a' }, error: null },
      { name: 'look', result: { text: 'Error: no such place' }, error: 'error', latency_ms: 900 },
      { name: 'write', error: 'outage' },
      { name: 'write', orphan: 'call' },
    ])
    const silent = await toolCalls('otlp_no_content')
    expect(silent.content).toBe('none')
    // Both began at one instant: only their ids order them.
    const looks = silent.tool_calls.slice(0, 2).toSorted((x, y) => x.latency_ms - y.latency_ms)
    expect(looks).toMatchObject([
      { name: 'look', arguments: null, result: null, answered: true, error: null },
      { name: 'look', arguments: null, result: null, answered: true, error: 'error' },
    ])
  })

  test.each([
    ['?tool=look', 2],
    ['?failed=true', 2],
    ['?failed=false', 2],
    ['?orphan=call', 1],
    ['?orphan=any', 1],
    ['?orphan=none', 3],
    ['?orphan=result', 0],
    ['?tool=write&failed=true', 1],
  ])('are filtered by %s', async (query, total) => {
    const found = await toolCalls('proxy', query)
    expect(found).toMatchObject({ total, tools: [{ calls: 2 }, { calls: 2 }] })
    expect(found.tool_calls).toHaveLength(total)
  })

  test('are paged', async () => {
    const whole = await toolCalls('proxy')
    const paged: Call[] = []
    let query = '?limit=1'
    for (let page = 0; page < 5 && query !== ''; page++) {
      const { tool_calls, next_cursor } = await toolCalls('proxy', query)
      paged.push(...tool_calls)
      query = next_cursor === null ? '' : `?limit=1&cursor=${encodeURIComponent(next_cursor)}`
    }
    expect(paged).toEqual(whole.tool_calls)
  })
})

describe('refusals', () => {
  test('callers without tasks:read', async () => {
    const as = async (headers: Record<string, string>) =>
      (await api.call('GET', '/tasks/proxy/tool-calls', { headers })).status
    expect(await as({})).toBe(401)
    expect(await as(keyOf(project, 'tasks:write'))).toBe(403)
    expect(await as(tokenOf('viewer', project))).toBe(200)
  })
  test('another tenant’s task, and a missing one', async () => {
    const other = await api.bench.newProject()
    expect(await api.get(other, '/tasks/proxy/tool-calls')).toMatchObject({
      status: 404,
      body: { code: 'task_not_found' },
    })
    expect((await api.get(project, `/tasks/${newId()}/tool-calls`)).status).toBe(404)
  })
  test('a cursor of another list, and unknown words', async () => {
    expect(await api.get(project, '/tasks/proxy/tool-calls?cursor=abc')).toMatchObject({
      body: { code: 'invalid_cursor' },
    })
    for (const query of ['?orphan=maybe', '?failed=1', '?limit=0', '?what=1']) {
      const { status } = await api.get(project, `/tasks/proxy/tool-calls${query}`)
      expect(status).toBe(400)
    }
  })
})
