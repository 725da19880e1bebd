import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { Clock } from '../../../kernel/time.ts'
import { parseProjectId } from '../../../model/project-id.ts'
import type { Columnar } from '../../../platform/columnar/index.ts'
import { maxMeasurementTimeMs } from './measurement-error.ts'
import type { SignalSource } from './reading.ts'
import type { TaskStore } from './tasks-reader.ts'

type OldestParts = { relational: TaskStore; columnar: Pick<Columnar, 'ofProject'>; clock: Clock }

/** Time for which an answer is used again. It changes by retention, once a day. */
const fresh_ms = 60_000
const projects_max = 10_000

/**
 * Opens the start of the oldest stored row of a project, in ms since 1970; undefined without rows.
 * Windows that begin before it are not filled.
 */
export function openOldest({ relational, columnar, clock }: OldestParts) {
  const known = new BoundedCache<string, { at_ms: number; oldest_ms: number }>(projects_max)
  const read = (source: SignalSource, project_id: string, signal: AbortSignal) =>
    source === 'calls' || source === 'minutes'
      ? oldestCall(columnar, project_id, signal)
      : oldestTask(relational, project_id)
  return async (
    source: SignalSource,
    project_id: string,
    signal: AbortSignal,
  ): Promise<number | undefined> => {
    const key = `${source} ${project_id}`
    const cached = known.get(key)
    const now_ms = clock.now_ms()
    if (cached !== undefined && now_ms - cached.at_ms < fresh_ms) return cached.oldest_ms
    const oldest_ms = await read(source, project_id, signal)
    if (oldest_ms !== undefined) known.set(key, { at_ms: now_ms, oldest_ms })
    return oldest_ms
  }
}

async function oldestCall(
  columnar: Pick<Columnar, 'ofProject'>,
  project_id: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const ofProject = columnar.ofProject(parseProjectId(project_id))
  const { rows } = await ofProject.read<{ at: string }>(
    `SELECT toUnixTimestamp64Milli(start_time) AS at FROM observations
     WHERE project_id = {project:UUID} ORDER BY start_time LIMIT 1`,
    {},
    { timeout_ms: maxMeasurementTimeMs, signal },
  )
  return rows[0] && Number(rows[0].at)
}

async function oldestTask({ db }: TaskStore, project_id: string): Promise<number | undefined> {
  const oldest = await db
    .selectFrom('tasks')
    .select('started_at')
    .where('project_id', '=', project_id)
    .orderBy('started_at')
    .limit(1)
    .executeTakeFirst()
  return oldest && Date.parse(oldest.started_at)
}
