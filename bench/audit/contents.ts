import type { ObservationStore } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Kysely, TaskTables } from '../../src/platform/relational/index.ts'
import { observationOf } from '../../test/support/observations.ts'

const tasks = 50
const steps = 12
const start_ns = 1_790_000_000_000_000_000n
const second_ns = 1_000_000_000n

/** The window of the contents, for queries. */
export const window = { from: '2026-09-21T14:00:00Z', to: '2026-09-21T15:00:00Z' }

/** Text that compresses as prose does. */
const prose = (characters: number, seed: number) => {
  const words = ['parcel', 'depot', 'customer', 'refund', 'invoice', 'route', 'driver', 'delay']
  let text = ''
  for (let at = seed; text.length < characters; at += 1) {
    text += `${words[(at * 7 + seed) % words.length]} ${(at * 2_654_435_761) % 9_973} `
  }
  return text.slice(0, characters)
}

/**
 * Inserts 50 tasks, each with a trace of 12 model calls with 2 KB of input, 0.5 KB of output and a
 * tool result of 1.5 KB, so that the contents of a trace have about 48 KB.
 */
export async function insertContents({
  db,
  store,
  project_id,
}: {
  db: Kysely<TaskTables>
  store: ObservationStore
  project_id: string
}): Promise<{ task_ids: string[]; trace_ids: string[] }> {
  const task_ids = Array.from({ length: tasks }, (_, at) => `task-${at}`)
  const trace_ids = task_ids.map(() => newId())
  const observations = task_ids.flatMap((task_id, task) =>
    Array.from({ length: steps }, (_, step) =>
      observationOf({
        project_id,
        task_id,
        trace_id: trace_ids[task] ?? '',
        observation_id: (task * steps + step + 1).toString(16).padStart(16, '0'),
        start_time: start_ns + BigInt(task * 30 + step) * second_ns,
        end_time: start_ns + BigInt(task * 30 + step + 1) * second_ns,
        input: prose(2_000, task * steps + step),
        output: prose(500, task + step),
        tool_results: [{ tool_call_id: `call-${step}`, content: prose(1_500, task * 31 + step) }],
        message_id: newId(),
      }),
    ),
  )
  await store.insert(observations, { token: newId() })
  const started_at = new Date(Number(start_ns / 1_000_000n)).toISOString()
  const times = { started_at, last_activity_at: started_at, duration_ms: 30_000 }
  const values = task_ids.map((task_id) => ({
    project_id,
    task_id,
    name: 'parcel',
    implicit: false,
    calls: steps,
    ...times,
  }))
  await db.insertInto('tasks').values(values).execute()
  return { task_ids, trace_ids }
}
