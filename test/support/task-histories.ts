import fc from 'fast-check'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { observationOf } from './observations.ts'

/** A turn of an agent: its answer, and what happens before its next call. */
const turns = fc.record({
  lane: fc.nat(2),
  /** Tool calls of the answer; for each of them, who brings the result, and after how many turns. */
  tools: fc.array(
    fc.record({
      by: fc.constantFrom('call', 'call', 'call', 'run', 'nobody'),
      after_turns: fc.constantFrom(0, 0, 0, 0, 1, 3),
      length_ms: fc.constantFrom(0, 5, 40, 900),
    }),
    { maxLength: 3 },
  ),
  length_ms: fc.constantFrom(0, 1, 10, 50, 700),
  pause_ms: fc.constantFrom(0, 0, 1, 20, 6_000),
  status: fc.constantFrom('ok', 'ok', 'ok', 'error'),
  /** Another row beside the call. */
  beside: fc.constantFrom(null, null, null, 'span', 'failed_span', 'agent', 'retriever'),
})

/** The turns of up to three agents that work on a task at once. */
export const taskTurns = fc.record({
  turns: fc.array(turns, { minLength: 1, maxLength: 60, size: 'max' }),
  /** Whether calls were recorded with their contents: their whole histories. */
  has_history: fc.boolean(),
})

type Turn = typeof turns extends fc.Arbitrary<infer One> ? One : never

type TaskTurns = typeof taskTurns extends fc.Arbitrary<infer Some> ? Some : never

type Waiting = { id: string; at_turn: number; content: string }

type Lane = { history: object[]; turn: number; waiting: Waiting[]; trace_id: string }

type About = { project_id: string; task_id: string; start_time: bigint }

/** Makes the observations of a task from turns. Each call sends the results that came since. */
export function rowsOfTurns({ turns: all, has_history }: TaskTurns, about: About): Observation[] {
  const rows: Observation[] = []
  const lanes = new Map<number, Lane>()
  let now = about.start_time
  for (const [at, turn] of all.entries()) {
    const lane = lanes.get(turn.lane) ?? newLane(turn.lane)
    lanes.set(turn.lane, lane)
    const call = callOf(turn, { at, lane, now, about, has_history })
    rows.push(call, ...besideOf(turn, call), ...runsOf(turn, call, lane))
    lane.turn += 1
    now = call.end_time + ms(turn.pause_ms)
  }
  return rows
}

type CallAt = { at: number; lane: Lane; now: bigint; about: About; has_history: boolean }

function callOf(turn: Turn, { at, lane, now, about, has_history }: CallAt): Observation {
  const results = lane.waiting.filter(({ at_turn }) => at_turn <= lane.turn)
  lane.waiting = lane.waiting.filter((one) => !results.includes(one))
  const tool_results = results.map(({ id, content }) => ({ tool_call_id: id, content }))
  lane.history.push(...tool_results.map((one) => ({ role: 'tool', ...one })))
  const failed = turn.status === 'error'
  const tool_calls = (failed ? [] : turn.tools).map((_, n) => {
    return { id: `${at}-${n}`, name: `tool_${n}`, arguments: `{"turn":${at}}` }
  })
  const asked = tool_calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }))
  const more = asked.length > 0 ? { tool_calls: asked } : {}
  const answer = { role: 'assistant', content: `answer ${at}`, ...more }
  const input = has_history ? JSON.stringify(lane.history) : ''
  if (!failed) lane.history.push(answer)
  return observationOf({
    ...{ project_id: about.project_id, task_id: about.task_id, trace_id: lane.trace_id },
    observation_id: idOf(at, 'c'),
    ...{ start_time: now, end_time: now + ms(turn.length_ms), tool_calls, tool_results },
    ...(has_history && { input, output: failed ? '' : JSON.stringify([answer]) }),
    ...(failed && { status: 'error', outcome: 'provider_error', status_code: 500 }),
  })
}

function idOf(at: number, name: string): string {
  return `${String(at).padStart(6, '0')}${name}`.padEnd(16, '0')
}

type Made = Pick<Observation, 'project_id' | 'task_id' | 'trace_id'>

const placeOf = ({ project_id, task_id, trace_id }: Made) => ({ project_id, task_id, trace_id })

function besideOf({ beside }: Turn, call: Observation): Observation[] {
  if (beside === null) return []
  const type = beside === 'failed_span' ? 'span' : beside
  const status = beside === 'failed_span' ? 'error' : 'ok'
  const times = { start_time: call.start_time, end_time: call.end_time + ms(30) }
  const id = call.observation_id.replace('c', 'b')
  const row = { ...placeOf(call), ...times, observation_id: id, type, status } as const
  return [observationOf({ ...row, source: 'otlp', cost_usd: null })]
}

/** The observations of the tools of a call; notes which results the next calls bring. */
function runsOf(turn: Turn, call: Observation, lane: Lane): Observation[] {
  return call.tool_calls.flatMap((asked, n) => {
    const [tool] = turn.tools.slice(n, n + 1)
    if (tool === undefined || tool.by === 'nobody') return []
    const content = `result ${asked.id}`
    lane.waiting.push({ id: asked.id, at_turn: lane.turn + 1 + tool.after_turns, content })
    if (tool.by === 'call') return []
    return observationOf({
      ...{ ...placeOf(call), observation_id: call.observation_id.replace('c0', `t${n}`) },
      ...{ type: 'tool', source: 'otlp', cost_usd: null, start_time: call.end_time },
      end_time: call.end_time + ms(tool.length_ms),
      ...{ tool_calls: [asked], tool_results: [{ tool_call_id: asked.id, content }] },
    })
  })
}

function newLane(index: number): Lane {
  const history = [{ role: 'user', content: `Work ${index}: ${'x'.repeat(20 + index)}` }]
  return { history, turn: 0, waiting: [], trace_id: newId() }
}

function ms(count: number): bigint {
  return BigInt(count) * 1_000_000n
}
