import type { TaskRun } from '../reconstruction/contract.ts'

export type Waste = { wasted_tokens: number; wasted_nano_dollars: bigint }

/**
 * What the model calls of these steps cost: tokens in and out, and billionths of a dollar. Each call
 * counts once; a number that nobody knows counts as nothing.
 */
export function wasteOfSteps(run: TaskRun, steps: Iterable<number>): Waste {
  const calls = new Set<number>()
  for (const step of steps) {
    const call = run.steps[step]?.call
    if (call !== undefined) calls.add(call)
  }
  return wasteOfCalls(run, calls)
}

/** The same for calls, such as failed ones that gave no step. `calls` holds each index once. */
export function wasteOfCalls(run: TaskRun, calls: ReadonlySet<number>): Waste {
  const waste: Waste = { wasted_tokens: 0, wasted_nano_dollars: 0n }
  for (const index of calls) {
    const call = run.calls[index]
    if (call === undefined) continue
    waste.wasted_tokens += (call.input_tokens ?? 0) + (call.output_tokens ?? 0)
    waste.wasted_nano_dollars += call.nano_dollars ?? 0n
  }
  return waste
}
