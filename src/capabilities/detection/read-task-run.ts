import { problem } from '../../kernel/problem.ts'
import type { ObservationStore } from '../storage/index.ts'
import type { RunAbout, TaskRun } from './reconstruction/contract.ts'
import { readHistories } from './worker/read-histories.ts'

/**
 * Stored starts are rounded, spans without a call may begin before, and the roll-up that has an
 * earlier call may still be on its way.
 */
export const startSlack_ms = 60 * 60 * 1000

/**
 * Reads all of a task and puts it in order, as detection does. `started_at` is the start of its
 * first call, ISO 8601. Rejects with `store_unavailable`, also when the task changed at each try.
 * After the signal aborts it reads no more content and rejects with the signal's reason.
 */
export async function readTaskRun(
  store: RunStore,
  task: RunAbout & { started_at: string; calls: number },
  signal: AbortSignal,
): Promise<TaskRun> {
  const { started_at, ...about } = task
  const from = BigInt(Math.max(0, Date.parse(started_at) - startSlack_ms)) * 1_000_000n
  const asked = { ...about, epoch: '', from, history: undefined }
  for (let tries = 0; tries < tries_max; tries++) {
    const histories = await readHistories(until(signal, store), task.project_id, [asked])
    const history = histories.get(asked)
    if (history !== undefined) return history.run()
  }
  throw problem('store_unavailable', { detail: 'the task changed while it was read' })
}

const tries_max = 3

type RunStore = Pick<ObservationStore, 'taskVersions' | 'observationsAt'>

/** Returns a store that reads nothing more once the signal aborts. */
function until(signal: AbortSignal, store: RunStore): RunStore {
  return {
    async taskVersions(...asked) {
      signal.throwIfAborted()
      return store.taskVersions(...asked)
    },
    async observationsAt(...asked) {
      signal.throwIfAborted()
      return store.observationsAt(...asked)
    },
  }
}
