import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { markKnownDue } from '../../src/capabilities/detection/index.ts'
import { openClickHouseRecordStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { EventDraft } from '../../src/model/ingest-records.ts'
import type { Observation } from '../../src/model/observation.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { formatRows } from '../corpus/format-rows.ts'
import { type DetectionApi, type DetectionBench, openDetectionApi } from '../support/detection.ts'
import { eventOf, rowsOf } from '../support/records.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let bench: DetectionBench
let api: DetectionApi
beforeAll(async () => {
  api = await openDetectionApi()
  bench = api.bench
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** A task that repeats the same tool call. */
function looping(project_id: string, task_id: string, times = 3) {
  return agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look'] })
    .user('Where is the order?')
    .times(times, (run) => run.tool({ name: 'look', args: { id: 7 } }, 'nothing there'))
    .assistant('I still look.')
}

/** A task that does what it was asked. */
function healthy(project_id: string, task_id: string) {
  return agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look'] })
    .user('Where is the order?')
    .tool({ name: 'look', args: { id: 7 } }, 'It is in Kiel.')
    .assistant('It is in Kiel.')
}

type Shown = { finding_id: string; type: string; severity: string; state: string; repeats: number }

async function findings(project: string, task_id: string, query = ''): Promise<Shown[]> {
  const { status, body } = await api.get(project, `/tasks/${task_id}/findings${query}`)
  expect(status).toBe(200)
  return body['findings'] as Shown[]
}

/** A looping agent whose provider holds the history; its calls name the answer before. */
function stateful(project_id: string, task_id: string, from = 0): Observation[] {
  const call = (at: number) => {
    const called = { type: 'function_call', call_id: `c${at}`, name: 'look', arguments: '{"id":7}' }
    const result = { type: 'function_call_output', call_id: `c${at - 1}`, output: 'nothing there' }
    const link = at === 0 ? {} : { previous_response_id: `resp_${at - 1}` }
    const input = at === 0 ? 'Where is the order?' : [result]
    const about = { status: 'completed', model: 'gpt-5-mini', usage: {} }
    return {
      request: { model: 'gpt-5-mini', instructions: 'Look.', input, ...link },
      response: { id: `resp_${at}`, ...about, output: [called] },
    }
  }
  const calls = Array.from({ length: 5 }, (_, at) => call(at))
  const rows = formatRows('responses', calls)
  const place = { project_id, task_id, trace_id: newId() }
  return rows.slice(from).map((row) => ({ ...row, ...place }))
}

/** A looping agent whose spans have no content: it is in the events of its trace. */
function silentLoop(project_id: string, task_id: string) {
  const run = agentRun(`silent ${task_id}`, { project_id, task_id, source: 'otlp_no_content' })
    .user('Where is the order?')
    .times(4, (again) => again.tool({ name: 'look', args: { id: 7 } }, 'nothing there'))
    .assistant('I still look.')
  const trace_id = newId()
  const rows = run
    .observations()
    .filter(({ type }) => type === 'generation')
    .map((row) => ({ ...row, trace_id, tool_calls: [], parent_observation_id: '' }))
  const events = run.recorded().calls.flatMap(({ messages, answer }, at) => {
    const { observation_id = '', start_time = 0n } = rows[at] ?? {}
    const sent = messages.map(({ role, tool_call_id, ...rest }) => {
      const id = tool_call_id === undefined ? {} : { id: tool_call_id }
      return [`gen_ai.${role}.message`, { ...rest, ...id }] as const
    })
    const all = [...sent, ['gen_ai.choice', { index: 0, message: answer }] as const]
    return all.map(([name, body], nth) =>
      eventOf({
        ...{ project_id, trace_id, observation_id, name, event_id: `${nth}` },
        ...{ time: start_time + BigInt(nth), body: JSON.stringify(body) },
      }),
    )
  })
  return { task_id, rows, events }
}

describe('the worker', () => {
  beforeAll(() => {
    bench.startWorker()
  })

  test('finds three equal calls, and nothing in a healthy task', async () => {
    const project = await bench.newProject()
    await bench.bring(looping(project, 'looping').observations())
    await bench.bring(healthy(project, 'well').observations())
    await bench.untilDetected()
    const loops = await api.get(project, '/tasks/looping/loops')
    expect(loops).toMatchObject({
      status: 200,
      body: {
        ...{ task_id: 'looping', total: 1, is_current: true, not_checked: [] },
        loops: [
          {
            type: 'repeat_call',
            kind: 'loop',
            state: 'open',
            start_step: 0,
            step_number: 1,
            repeats: 3,
          },
        ],
      },
    })
    expect(await findings(project, 'well')).toEqual([])
    const { body: task } = await api.get(project, '/tasks/looping')
    expect(task['verdict']).toMatchObject({
      worst_severity: 'medium',
      findings: { medium: 1, high: 0 },
      root_cause: {
        ...{ type: 'repeat_call', step: 0, step_number: 1 },
        ...{ trace_id: expect.any(String), observation_id: expect.any(String) },
      },
      summary: expect.stringContaining('look'),
    })
    const [loop] = await findings(project, 'looping')
    const marks = [0, 1, 2].map((step) => ({
      ...{ step, step_number: step + 1, findings: [loop?.finding_id] },
    }))
    const { body: timeline } = await api.get(
      project,
      '/tasks/looping/timeline?role=model_call,tool_call,tool_result',
    )
    const entries = timeline['entries'] as { role: string }[]
    const callsOf = (wanted: string) => entries.filter(({ role }) => role === wanted).slice(0, 3)
    expect(callsOf('model_call')).toMatchObject(marks)
    expect(callsOf('tool_call')).toMatchObject(marks)
    expect(callsOf('tool_result')).toMatchObject(marks)
    const { body: uses } = await api.get(project, '/tasks/looping/tool-calls')
    expect(uses['tool_calls']).toMatchObject(marks)
    const { body: well } = await api.get(project, '/tasks/well')
    expect(well['verdict']).toMatchObject({ worst_severity: null, root_cause: null })
  })

  test('finds the loop of an agent that sends only what is new, one call at a time', async () => {
    const project = await bench.newProject()
    for (const row of stateful(project, 'stateful')) {
      await bench.bring([row])
      await bench.untilDetected()
    }
    expect(await findings(project, 'stateful')).toMatchObject([{ type: 'repeat_call', repeats: 4 }])
    const { body } = await api.get(project, '/tasks/stateful')
    expect(body['verdict']).toMatchObject({ summary: expect.not.stringContaining('did not run') })
  })

  test('says what was not checked if the provider holds the beginning, or without content', async () => {
    const project = await bench.newProject()
    await bench.bring(stateful(project, 'held', 4))
    const about = { project_id: project, task_id: 'silent' } as const
    const silent = agentRun(`${project} silent`, { ...about, source: 'otlp_no_content' })
    await bench.bring(silent.user('Hi').tool({ name: 'look' }, 'x').assistant('y').observations())
    await bench.untilDetected()
    const summaryOf = async (task_id: string) => {
      const { body } = await api.get(project, `/tasks/${task_id}`)
      return (body['verdict'] as { summary: string }).summary
    }
    const held = 'part of the history is held by the provider'
    expect(await summaryOf('held')).toContain(held)
    const { body } = await api.get(project, '/tasks/held/findings')
    expect(body['findings']).toEqual([])
    expect(body['not_checked']).toContainEqual({ detector: 'orphan', reason: held })
    expect(await summaryOf('silent')).toMatch(
      /the checks that ran found nothing wrong; \d+ of \d+ checks did not run/,
    )
  })

  test('reads the content of events that came before or after their spans', async () => {
    const project = await bench.newProject()
    const records = openClickHouseRecordStore({ columnar: bench.columnar })
    const insert = (drafts: readonly EventDraft[]) =>
      records.insertRows('events', rowsOf('events', drafts), { token: newId() })
    const of = (task_id: string) => silentLoop(project, task_id)
    const [early, late] = [of(newId()), of(newId())]
    await insert(early.events)
    await bench.bring(early.rows)
    await bench.bring(late.rows)
    await bench.untilDetected()
    expect(await findings(project, early.task_id)).toMatchObject([{ type: 'repeat_call' }])
    expect(await findings(project, late.task_id)).toEqual([])
    await insert(late.events)
    await markKnownDue(bench.db, [{ project_id: project, task_id: late.task_id }])
    await bench.untilDetected()
    expect(await findings(project, late.task_id)).toMatchObject([{ type: 'repeat_call' }])
    const { body } = await api.get(project, `/tasks/${late.task_id}/tool-calls`)
    expect(body['tool_calls']).toHaveLength(4)
    expect(await api.post(project, `/tasks/${late.task_id}/detect`, {})).toMatchObject({
      body: { opened: [], withdrawn: [] },
    })
  })

  test('reads the content of events that came in two parts', async () => {
    const project = await bench.newProject()
    const records = openClickHouseRecordStore({ columnar: bench.columnar })
    const { task_id, rows, events } = silentLoop(project, newId())
    const isAnswer = ({ name }: EventDraft) => name === 'gen_ai.choice'
    const parts = [events.filter((one) => !isAnswer(one)), events.filter(isAnswer)]
    await bench.bring(rows)
    for (const part of parts) {
      expect(part.length).toBeGreaterThan(3)
      await bench.untilDetected()
      expect(await findings(project, task_id)).toEqual([])
      await records.insertRows('events', rowsOf('events', part), { token: newId() })
      await markKnownDue(bench.db, [{ project_id: project, task_id }])
    }
    await bench.untilDetected()
    expect(await findings(project, task_id)).toMatchObject([{ type: 'repeat_call' }])
  })

  test('a finding is updated while the task grows, and recovered when the task recovers', async () => {
    const project = await bench.newProject()
    const run = looping(project, 'grows')
    await bench.bring(run.observations())
    await bench.untilDetected()
    const [first] = await findings(project, 'grows')
    expect(first).toMatchObject({ repeats: 3, state: 'open' })
    const rows = looping(project, 'longer', 5)
      .tool({ name: 'look', args: { id: 8 } }, 'It is in Kiel.')
      .assistant('It is in Kiel.')
      .observations()
    await bench.bring(rows.slice(0, 4))
    await bench.untilDetected()
    const [young] = await findings(project, 'longer')
    await bench.bring(rows.slice(4, 6))
    await bench.untilDetected()
    const [grown] = await findings(project, 'longer')
    expect(grown).toMatchObject({ finding_id: young?.finding_id, repeats: 5, state: 'open' })
    await bench.bring(rows.slice(6))
    await bench.untilDetected()
    const over = await findings(project, 'longer', '?kind=loop')
    expect(over).toMatchObject([{ finding_id: young?.finding_id, state: 'recovered' }])
  })

  test('a finding that a re-sent call disproves is withdrawn, and may come back', async () => {
    const project = await bench.newProject()
    const rows = looping(project, 'late').observations()
    const other = agentRun(`${project} late`, { project_id: project, task_id: 'late' })
      .user('Where is the order?')
      .times(3, (run, lap) => run.tool({ name: 'look', args: { id: lap } }, `not in box ${lap}`))
      .assistant('I still look.')
      .observations()
      .map((row) => ({ ...row, message_id: 'told anew' }))
    await bench.bring(rows)
    await bench.untilDetected()
    const [first] = await findings(project, 'late')
    await bench.bring(other)
    await bench.untilDetected()
    expect(await findings(project, 'late')).toEqual([])
    const { finding_id } = first ?? {}
    const withdrawn = [{ finding_id, state: 'withdrawn' }]
    expect(await findings(project, 'late', '?state=any')).toMatchObject(withdrawn)
    const { body: task } = await api.get(project, '/tasks/late')
    expect(task['verdict']).toMatchObject({ worst_severity: null, wasted_tokens: 0 })
    await bench.bring(rows.map((row) => ({ ...row, message_id: 'as it was' })))
    await bench.untilDetected()
    expect(await findings(project, 'late')).toMatchObject([{ finding_id, state: 'open' }])
  })

  test('repeated records change nothing', async () => {
    const project = await bench.newProject()
    const rows = looping(project, 'twice').observations()
    await bench.bring(rows)
    await bench.untilDetected()
    const before = await api.get(project, '/tasks/twice/findings?state=any')
    await bench.bring(rows)
    await bench.untilDetected()
    const after = await api.get(project, '/tasks/twice/findings?state=any')
    expect(after.body['findings']).toEqual(before.body['findings'])
  })

  test('any batches, in any order, give the same findings', async () => {
    const project = await bench.newProject()
    const parts = async (task_id: string, cut: (rows: Observation[]) => Observation[][]) => {
      const rows = looping(project, 'cut', 4)
        .tool({ name: 'look', args: { id: 8 } }, 'It is in Kiel.')
        .observations()
        .map((row) => ({ ...row, task_id }))
      for (const batch of cut(rows)) {
        await bench.bring(batch)
        await bench.untilDetected()
      }
      const found = await findings(project, task_id)
      return found.map(({ finding_id: _, ...finding }) => ({ ...finding, ...untold }))
    }
    const untold = { task_id: '', first_detected_at: '', updated_at: '' }
    const whole = await parts('whole', (rows) => [rows])
    expect(whole.length).toBeGreaterThan(0)
    expect(await parts('single', (rows) => rows.map((row) => [row]))).toEqual(whole)
    const back = (rows: Observation[]) => rows.toReversed().map((row) => [row])
    expect(await parts('backwards', back)).toEqual(whole)
  })

  test('without content it lists what it could not check, and quotes nothing', async () => {
    const project = await bench.newProject()
    const rows = looping(project, 'silent', 6).observations()
    const silent = rows.map((row) => ({
      ...row,
      ...{ input: '', output: '', tool_calls: [], tool_results: [] },
      content_state: 'dropped' as const,
      attributes: {},
    }))
    await bench.bring(silent)
    await bench.untilDetected()
    const { body } = await api.get(project, '/tasks/silent/findings')
    expect(body['not_checked']).toEqual(
      expect.arrayContaining([{ detector: 'repeat_call', reason: expect.any(String) }]),
    )
    expect(JSON.stringify(body['findings'])).not.toContain('nothing there')
  })

  test('a task of the same id in another project is another task', async () => {
    const [mine, theirs] = [await bench.newProject(), await bench.newProject()]
    await bench.bring([
      ...looping(mine, 'shared').observations(),
      ...healthy(theirs, 'shared').observations(),
    ])
    await bench.untilDetected()
    expect(await findings(mine, 'shared')).toHaveLength(1)
    expect(await findings(theirs, 'shared')).toEqual([])
    for (const path of ['/tasks/shared-not/findings', '/tasks/looping/loops']) {
      expect((await api.get(theirs, path)).status).toBe(404)
    }
    const detect = await api.post(theirs, '/tasks/looping/detect')
    expect(detect).toMatchObject({ status: 404, body: { code: 'task_not_found' } })
  })
})

describe('POST detect', () => {
  test('returns what it changed, and nothing when repeated', async () => {
    await using quiet = await openDetectionApi()
    const project = await quiet.bench.newProject()
    await quiet.bench.bring(looping(project, 'asked').observations())
    const first = await quiet.post(project, '/tasks/asked/detect')
    expect(first).toMatchObject({
      status: 200,
      body: { detected: true, opened: [{ type: 'repeat_call' }], unchanged: [], withdrawn: [] },
    })
    const again = await quiet.post(project, '/tasks/asked/detect', { force: false })
    expect(again.body).toMatchObject({ detected: false, opened: [], unchanged: [{}] })
    const forced = await quiet.post(project, '/tasks/asked/detect', { force: true })
    expect(forced.body).toMatchObject({ detected: true, opened: [], unchanged: [{}] })
    await quiet.bench.untilDetected(1_000)
  })

  test('with detectors it changes only their findings', async () => {
    await using quiet = await openDetectionApi()
    const project = await quiet.bench.newProject()
    await quiet.bench.bring(looping(project, 'some').observations())
    const one = await quiet.post(project, '/tasks/some/detect', { detectors: ['cycle'] })
    expect(one).toMatchObject({ status: 200, body: { detected: true, opened: [] } })
    const all = await quiet.post(project, '/tasks/some/detect')
    expect(all.body).toMatchObject({ detected: true, opened: [{ type: 'repeat_call' }] })
    const unknown = await quiet.post(project, '/tasks/some/detect', { detectors: ['psychic'] })
    expect(unknown).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/detectors/0' }] },
    })
  })

  test('accepts editors and keys with tasks:write', async () => {
    const project = await bench.newProject()
    await bench.bring(healthy(project, 'guarded').observations())
    const path = '/tasks/guarded/detect'
    const as = async (headers: Record<string, string>) =>
      (await api.call('POST', path, { headers })).status
    expect(await as({})).toBe(401)
    expect(await as(keyOf(project, 'tasks:read'))).toBe(403)
    expect(await as(tokenOf('viewer', project))).toBe(403)
    expect(await as(tokenOf('editor', project))).toBe(200)
    expect(await as(keyOf(newId(), 'tasks:write'))).toBe(404)
  })
})

describe('lists of tasks', () => {
  test('are filtered and sorted by findings', async () => {
    const project = await bench.newProject()
    await bench.bring([
      ...looping(project, 'thrice').observations(),
      ...looping(project, 'often', 8).observations(),
      ...healthy(project, 'well').observations(),
    ])
    for (const task of ['thrice', 'often', 'well']) await api.post(project, `/tasks/${task}/detect`)
    const ids = async (query: string) => {
      const { status, body } = await api.get(project, `/tasks?${query}`)
      expect([query, status]).toEqual([query, 200])
      return (body['tasks'] as { task_id: string }[]).map(({ task_id }) => task_id)
    }
    expect(await ids('sort=worst_severity')).toEqual(['often', 'thrice', 'well'])
    expect(await ids('sort=wasted_tokens&order=asc')).toEqual(['well', 'thrice', 'often'])
    expect(await ids('sort=wasted_cost_usd')).toEqual(['often', 'thrice', 'well'])
    expect(await ids('severity_min=high')).toEqual(['often'])
    expect(await ids('finding_type=repeat_call&sort=wasted_tokens')).toEqual(['often', 'thrice'])
    expect(await ids('finding_kind=context')).toEqual([])
    expect(await ids('wasted_tokens_min=1&sort=wasted_tokens')).toEqual(['often', 'thrice'])
    expect((await api.get(project, '/tasks?severity_min=awful')).status).toBe(400)
    const page = await api.get(project, '/tasks?sort=worst_severity&limit=1')
    const cursor = String(page.body['next_cursor'])
    expect(await ids(`sort=worst_severity&limit=1&cursor=${cursor}`)).toEqual(['thrice'])
  })
})

test('a deleted task takes its findings along', async () => {
  const project = await bench.newProject()
  await bench.bring(looping(project, 'gone').observations())
  await api.post(project, '/tasks/gone/detect')
  await sql`delete from tasks where project_id = ${project}`.execute(bench.db)
  const { rows } = await sql<{ left: number }>`
    select (select count(*) from findings where project_id = ${project})::int
      + (select count(*) from task_detections where project_id = ${project})::int as left
  `.execute(bench.db)
  expect(rows).toEqual([{ left: 0 }])
})
