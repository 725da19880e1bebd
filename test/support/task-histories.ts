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

type TaskTurns = typeof taskTurns extends fc.Arbitrary<infer Some> ? Some : never

type Waiting = { id: string; at_turn: number; content: string }

type Lane = { history: object[]; turn: number; waiting: Waiting[]; trace_id: string }

/** Makes the observations of a task from turns. Each call sends the results that came since. */
export function rowsOfTurns(
  { turns: all, has_history }: TaskTurns,
  about: { project_id: string; task_id: string; start_time: bigint },
): Observation[] {
  const rows: Observation[] = []
  const lanes = new Map<number, Lane>()
  let now = about.start_time
  for (const [at, turn] of all.entries()) {
    const lane = lanes.get(turn.lane) ?? newLane(turn.lane)
    lanes.set(turn.lane, lane)
    const { project_id, task_id } = about
    const id = (name: string) => `${String(at).padStart(6, '0')}${name}`.padEnd(16, '0')
    const common = { project_id, task_id, trace_id: lane.trace_id }
    const results = lane.waiting.filter(({ at_turn }) => at_turn <= lane.turn)
    lane.waiting = lane.waiting.filter((one) => !results.includes(one))
    const messages = results.map(({ id: tool_call_id, content }) => {
      return { role: 'tool', tool_call_id, content }
    })
    lane.history.push(...messages)
    const end_time = now + ms(turn.length_ms)
    const failed = turn.status === 'error'
    const tool_calls = (failed ? [] : turn.tools).map((_, n) => {
      return { id: `${at}-${n}`, name: `tool_${n}`, arguments: `{"turn":${at}}` }
    })
    const answer = {
      ...{ role: 'assistant', content: `answer ${at}` },
      ...(tool_calls.length > 0 && {
        tool_calls: tool_calls.map(({ id: call_id, name, arguments: args }) => {
          return { id: call_id, type: 'function', function: { name, arguments: args } }
        }),
      }),
    }
    rows.push(
      observationOf({
        ...{ ...common, observation_id: id('c'), start_time: now, end_time, tool_calls },
        tool_results: results.map(({ id: tool_call_id, content }) => ({ tool_call_id, content })),
        ...(has_history && { input: JSON.stringify(lane.history) }),
        ...(has_history && !failed && { output: JSON.stringify([answer]) }),
        ...(failed && { status: 'error', outcome: 'provider_error', status_code: 500 }),
      }),
    )
    if (turn.beside !== null) {
      const type = turn.beside === 'failed_span' ? 'span' : turn.beside
      const status = turn.beside === 'failed_span' ? 'error' : 'ok'
      const times = { start_time: now, end_time: end_time + ms(30) }
      const row = { ...common, ...times, observation_id: id('b'), type, status } as const
      rows.push(observationOf({ ...row, source: 'otlp', cost_usd: null }))
    }
    if (!failed) lane.history.push(answer)
    for (const [n, tool] of (failed ? [] : turn.tools).entries()) {
      const [call] = tool_calls.slice(n, n + 1)
      if (call === undefined || tool.by === 'nobody') continue
      const content = `result ${call.id}`
      lane.waiting.push({ id: call.id, at_turn: lane.turn + 1 + tool.after_turns, content })
      if (tool.by === 'call') continue
      rows.push(
        observationOf({
          ...{ ...common, observation_id: id(`t${n}`), type: 'tool', source: 'otlp' },
          ...{ start_time: end_time, end_time: end_time + ms(tool.length_ms), cost_usd: null },
          ...{ tool_calls: [call], tool_results: [{ tool_call_id: call.id, content }] },
        }),
      )
    }
    lane.turn += 1
    now = end_time + ms(turn.pause_ms)
  }
  return rows
}

function newLane(index: number): Lane {
  const history = [{ role: 'user', content: `Work ${index}: ${'x'.repeat(20 + index)}` }]
  return { history, turn: 0, waiting: [], trace_id: newId() }
}

function ms(count: number): bigint {
  return BigInt(count) * 1_000_000n
}
