import type { EvidenceItem } from '../gates/evidence-item.ts'
import type { CertificationDb } from './contract.ts'
import { type EvalCase, evalCaseId } from './eval-case.ts'
import { pseudonym } from './task-item.ts'

/** Maximum eval runs of one certification, including those of earlier looks. */
export const maxEvalRuns = 50

/** The cases of eval runs as evidence, and the runs that count. */
export type EvalCasesRead = {
  items: EvidenceItem[]
  runs: { digest: string; cases: number }[]
  /** Whether a run was deleted, so that the others may have been selected by their results. */
  isMissing: boolean
  /** Whether the runs have more cases than `cases_max`, which were not read. */
  isCut: boolean
}

type CasesAsked = {
  project_id: string
  run_ids: readonly string[]
  salt: Buffer
  cases_max: number
}

/**
 * Reads the cases of eval runs. Runs with the same digest are one run that was uploaded twice, and
 * count once.
 */
export async function readEvalCases(
  db: CertificationDb,
  { project_id, run_ids, salt, cases_max }: CasesAsked,
): Promise<EvalCasesRead> {
  if (run_ids.length === 0) return { items: [], runs: [], isMissing: false, isCut: false }
  const stored = await db
    .selectFrom('certification_eval_runs')
    .select(['id', 'digest', 'cases'])
    .where('project_id', '=', project_id)
    .where('id', 'in', [...run_ids])
    .orderBy('digest')
    .orderBy('id')
    .execute()
  const runs = stored.filter(({ digest }, at) => digest !== stored[at - 1]?.digest)
  const items: EvidenceItem[] = []
  let isMissing = stored.length < run_ids.length
  const shown = runs.map(({ digest, cases }) => ({ digest, cases }))
  const all = shown.reduce((sum, { cases }) => sum + cases, 0)
  if (all > cases_max) return { items, runs: shown, isMissing, isCut: true }
  for (const { id, digest, cases: expected } of runs) {
    const cases = await db
      .selectFrom('certification_eval_cases')
      .selectAll()
      .where('run_id', '=', id)
      .where('project_id', '=', project_id)
      .execute()
    if (cases.length < expected) isMissing = true
    for (const one of cases) items.push(toCaseItem(one, { digest, salt }))
  }
  return { items, runs: shown, isMissing, isCut: false }
}

/** Returns a case as evidence. Cases with one cluster, else repeats of one case, are a cluster. */
function toCaseItem(
  one: EvalCase,
  { digest, salt }: { digest: string; salt: Buffer },
): EvidenceItem {
  const { case_id, cluster, name, passed, score, duration_ms, cost_usd } = one
  return {
    id: `${digest.slice(0, 16)}/${evalCaseId(one)}`,
    cluster: pseudonym(salt, cluster === null ? `case ${case_id}` : `cluster ${cluster}`),
    group: name,
    case_id,
    values: {
      ...(passed !== null && { eval_pass_rate: Number(passed) }),
      ...(score !== null && { eval_score_mean: score }),
      ...(cost_usd !== null && { eval_cost_mean_usd: cost_usd }),
      ...(duration_ms !== null && { eval_duration_mean_ms: duration_ms }),
    },
  }
}
