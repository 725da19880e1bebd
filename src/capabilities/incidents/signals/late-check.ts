import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { Clock } from '../../../kernel/time.ts'
import { parseProjectId } from '../../../model/project-id.ts'
import type { Columnar } from '../../../platform/columnar/index.ts'
import { lateRows } from './call-rows.ts'
import { Parameters } from './grouped-statement.ts'
import type { LateTiming } from './late-timing.ts'
import { maxMeasurementTimeMs } from './measurement-error.ts'
import type { Window } from './reading.ts'

/** Tells whether late rows count in windows of a project. */
export type LateCheck = (asked: {
  project_id: string
  timing: LateTiming
  ranges: readonly Window[]
  signal: AbortSignal
}) => Promise<boolean>

/** Statements of one evaluation share an answer for this time. */
const fresh_ms = 5_000
const projects_max = 10_000

/** Windows of rows are at most an hour, and slots are a quarter of an hour old when they catch up. */
const recent_ms = 2 * 3_600_000

/**
 * Opens the check for late rows. Without late rows, which is usual, statements are simpler: they do
 * not look for former versions.
 */
export function openLateCheck({
  columnar,
  clock,
}: {
  columnar: Pick<Columnar, 'ofProject'>
  clock: Clock
}): LateCheck {
  const known = new BoundedCache<string, { at_ms: number; found: Promise<boolean> }>(projects_max)
  const ask: LateCheck = async ({ project_id, timing, ranges, signal }) => {
    const parameters = new Parameters()
    const ofProject = columnar.ofProject(parseProjectId(project_id))
    const text = lateRows({ ranges, timing }, parameters)
    const options = { timeout_ms: maxMeasurementTimeMs, settings: { max_threads: 2 }, signal }
    return (await ofProject.read(text, parameters.values, options)).rows.length > 0
  }
  return async (asked) => {
    const { project_id, timing, ranges } = asked
    const now_ms = clock.now_ms()
    const recent = { from_ms: now_ms - recent_ms, to_ms: now_ms }
    if (ranges.some(({ from_ms }) => from_ms < recent.from_ms)) return true
    const key = `${project_id} ${timing.repeated_ms} ${timing.delay_ms}`
    const cached = known.get(key)
    if (cached !== undefined && Math.abs(now_ms - cached.at_ms) < fresh_ms) return cached.found
    const found = ask({ ...asked, ranges: [recent] })
    known.set(key, { at_ms: now_ms, found })
    found.catch(() => known.delete(key))
    return found
  }
}
