import { isUuid } from '../../../kernel/ids.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { RunsDb } from '../contract.ts'
import { findRun, latestVerified, type Run, type TraceKey } from '../runs/store.ts'

/** Returns a run of a project. Throws `verification_run_not_found`. */
export async function requireRun(
  db: RunsDb,
  { project_id, run_id }: { project_id: string; run_id: string },
): Promise<Run> {
  const run = isUuid(run_id) ? await findRun(db, { project_id, run_id }) : undefined
  if (run === undefined) throw runNotFound(run_id)
  return run
}

/** Returns a run of a trace. Throws `verification_run_not_found`. */
export async function requireRunOf(
  db: RunsDb,
  { project_id, trace_id }: TraceKey,
  run_id: string,
): Promise<Run> {
  const run = await requireRun(db, { project_id, run_id })
  if (run.trace_id !== trace_id) throw runNotFound(run_id)
  return run
}

/** Returns the given run of a trace, else its newest verified one; undefined without any. */
export function chooseRun(
  db: RunsDb,
  trace: TraceKey,
  run_id: string | undefined,
): Promise<Run | undefined> {
  return run_id === undefined ? latestVerified(db, trace) : requireRunOf(db, trace, run_id)
}

function runNotFound(run_id: string): Problem {
  return problem('verification_run_not_found', {
    detail: `run_id: got "${run_id.slice(0, 80)}", expected the id of a run of this project`,
  })
}
