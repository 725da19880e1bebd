import type { Observation } from '../../src/model/observation.ts'
import { observationOf } from './observations.ts'

/** 2026-09-21T08:00:00Z, the start of the query guide's records. */
const start = BigInt(Date.UTC(2026, 8, 21, 8)) * 1_000_000n
const minute = 60_000_000_000n
const models = ['sonnet-5', 'gpt-6', 'gemini-4'] as const
const providers = ['anthropic', 'openai', 'gemini'] as const

/** Twelve traces of an agent with two calls and a tool each, over three hours. */
export function guideObservations(project_id: string): Observation[] {
  return Array.from({ length: 12 }, (_, trace) => traceOf(project_id, trace)).flat()
}

function traceOf(project_id: string, trace: number): Observation[] {
  const begin = start + BigInt(trace) * 15n * minute
  const from = (seconds: number) => begin + BigInt(Math.round(seconds * 1000)) * 1_000_000n
  const of = (given: Partial<Observation>) =>
    observationOf({
      project_id,
      trace_id: `0198c0de-0000-7000-8000-${String(trace).padStart(12, '0')}`,
      user_id: ['u-1', 'u-2', 'u-3', 'u-1'][trace % 4] ?? '',
      environment: trace % 3 === 0 ? 'staging' : 'prod',
      release: trace < 6 ? '1.4.0' : '1.5.0',
      attributes: { tenant: trace % 2 === 0 ? 'acme' : 'globex' },
      ...given,
    })
  return [
    of({
      ...{ observation_id: `agent-${trace}`, type: 'agent', name: 'support agent', model: '' },
      ...{ start_time: begin, end_time: from(4 + trace), cost_usd: null },
    }),
    call(of, { trace, number: 0, start_time: from(0.1), end_time: from(1.1 + trace * 0.25) }),
    of({
      ...{ observation_id: `tool-${trace}`, type: 'tool', name: 'find_order', model: '' },
      ...{ start_time: from(3.2), end_time: from(3.4), cost_usd: null },
    }),
    call(of, { trace, number: 1, start_time: from(3.5), end_time: from(3.9 + trace) }),
  ]
}

type Call = { trace: number; number: number; start_time: bigint; end_time: bigint }

function call(of: (given: Partial<Observation>) => Observation, about: Call): Observation {
  const { trace, number, start_time, end_time } = about
  const which = (trace + number) % 3
  const failed = which === 1 && trace % 4 === 3
  return of({
    ...{ observation_id: `call-${trace}-${number}`, start_time, end_time },
    ...{ model: models[which] ?? '', provider: providers[which] ?? '', name: 'chat' },
    status: failed ? 'error' : 'ok',
    error_type: failed ? 'rate_limit' : '',
    input: `where is order ${1000 + trace}?`,
    input_uncached_tokens: 100 + trace * 10,
    cache_read_tokens: which === 0 ? 300 : 0,
    output_visible_tokens: 50,
    cost_usd: failed ? '0' : `0.0${10 + trace}`,
  })
}

/** Tasks of the query guide, as rows. */
export const guideTasks = [
  task('refund 1001', { calls: 4, cost_usd: '0.21', state: 'failed', end_note: 'no such order' }),
  task('refund 1002', { calls: 6, cost_usd: '0.4', state: 'failed', end_note: 'gave up' }),
  task('refund 1003', { calls: 1, cost_usd: '0.9', state: 'failed', end_note: 'rate limited' }),
  task('refund 1004', { calls: 5, cost_usd: '0.7', state: 'completed', end_note: 'done' }),
]

function task(
  name: string,
  given: { calls: number; cost_usd: string; state: 'failed' | 'completed'; end_note: string },
) {
  const task_id = name.replace(' ', '-')
  return { task_id, name, ...given, ended_at: '2026-09-21T15:00:00.000Z' }
}
