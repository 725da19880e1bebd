import type { Observation } from '../../src/model/observation.ts'
import { observationOf } from '../../test/support/observations.ts'

export const shapes = ['agents', 'siblings', 'chain'] as const
export type Shape = (typeof shapes)[number]

const start_ns = 1_790_000_000_000_000_000n
const ms = 1_000_000n

/**
 * A trace of `count` observations. `agents`: an agent with steps of a call and two parallel tools;
 * `siblings`: all below one root; `chain`: each below the one before.
 */
export function traceOf(
  shape: Shape,
  observations: number,
  of: { project_id: string; trace_id: string },
): Observation[] {
  return Array.from({ length: observations }, (_, at) => {
    const start_time = start_ns + (at === 0 ? 0n : BigInt(at) * ms)
    const whole = BigInt(observations + 10) * ms
    const lasts = at === 0 || shape === 'chain' ? whole - (start_time - start_ns) : 3n * ms
    return observationOf({
      ...of,
      observation_id: idOf(at),
      parent_observation_id: at === 0 ? '' : idOf(parentOf(shape, at)),
      ...kindOf(at),
      start_time,
      end_time: start_time + lasts,
    })
  })
}

function idOf(at: number): string {
  return at.toString(16).padStart(16, '0')
}

const step = 4

function parentOf(shape: Shape, at: number): number {
  if (shape === 'chain') return at - 1
  if (shape === 'siblings') return 0
  // Every fourth is a step of the agent; its call and tools are below it.
  return at % step === 1 ? 0 : at - ((at - 1) % step)
}

function kindOf(at: number): Partial<Observation> {
  const silent = { input_uncached_tokens: null, output_visible_tokens: null, cost_usd: null }
  const unknown = { cache_read_tokens: null, cache_write_tokens: null, reasoning_tokens: null }
  if (at === 0) return { type: 'agent', name: 'planner', ...silent, ...unknown }
  if (at % step === 2) return { type: 'generation', name: 'chat m-1' }
  if (at % step === 1) return { type: 'chain', name: 'step', ...silent, ...unknown }
  return { type: 'tool', name: `tool ${at % 7}`, ...silent, ...unknown }
}
