import type { TaskRun, Thread } from '../../detection/reconstruction/index.ts'
import type { TurnThread } from './turn-schema.ts'

/** Maximum threads above those of a page. */
const parents_max = 64

/** Returns the threads of a page with the threads above them, by number. */
export function listThreads(run: TaskRun, used: Iterable<number>): TurnThread[] {
  const listed = new Map<number, Thread>()
  for (const index of used) {
    let thread = run.threads[index]
    for (let climbed = 0; thread !== undefined && climbed < parents_max; climbed++) {
      if (listed.has(thread.index)) break
      listed.set(thread.index, thread)
      thread = thread.parent === null ? undefined : run.threads[thread.parent]
    }
  }
  return [...listed.values()]
    .toSorted((a, b) => a.index - b.index)
    .map((thread) => toThread(run, thread))
}

function toThread(run: TaskRun, thread: Thread): TurnThread {
  const { index, kind, parent, agent_name, is_held, calls } = thread
  const first = calls[0] ?? null
  const above = parent === null ? [] : (run.threads[parent]?.calls ?? [])
  const parent_turn = first === null ? null : (above.findLast((call) => call < first) ?? null)
  return {
    ...{ thread: index, kind, parent, parent_turn, agent_name, held: is_held === true },
    ...{ first_turn: first, last_turn: calls.at(-1) ?? null, turns: calls.length },
  }
}
