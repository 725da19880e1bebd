import type { Turn, TurnThread } from '../../../api/schema.gen.d.ts'

/** A choice of turns: by agent, model, or a tool that they used. */
export type TurnFilter = {
  agent?: string | undefined
  tool?: string | undefined
  model?: string | undefined
}

/** Returns the name of the agent of a thread; `agent` for the only one without a name. */
export function agentOf(threads: readonly TurnThread[], thread: number): string {
  const name = threads.find((each) => each.thread === thread)?.agent_name ?? ''
  if (name !== '') return name
  return thread === 0 ? 'agent' : `thread ${thread + 1}`
}

/** Returns the turns that match all parts of a filter. */
export function filterTurns(
  turns: readonly Turn[],
  threads: readonly TurnThread[],
  { agent, tool, model }: TurnFilter,
): readonly Turn[] {
  if (agent === undefined && tool === undefined && model === undefined) return turns
  return turns.filter(
    (turn) =>
      (agent === undefined || agentOf(threads, turn.thread) === agent) &&
      (tool === undefined || turn.tool_uses.some(({ name }) => name === tool)) &&
      (model === undefined || turn.model === model),
  )
}
