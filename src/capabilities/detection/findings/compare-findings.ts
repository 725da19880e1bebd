import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { Finding, FindingChanges } from './finding.ts'
import type { NewFinding } from './new-findings.ts'

/** Stored and new findings to compare. */
type FindingsToCompare = {
  stored: readonly Finding[]
  found: readonly NewFinding[]
  /** False for detectors that could not analyse the run: their stored findings stay. */
  wasAnalysed: (detector: string) => boolean
  /** False for deleted observations. */
  isThere: (place: { trace_id: string; observation_id: string }) => boolean
}

/** The findings to write, and the resulting changes. */
type Comparison = {
  changes: FindingChanges
  /** New and changed findings. */
  put: NewFinding[]
  withdrawn: string[]
  /** Stored findings that could not be re-examined; they stay valid. */
  kept: Finding[]
}

/**
 * Compares new findings with the stored ones. A stored finding that was not found again is
 * withdrawn, because a late call disproved it. It stays if its detector could not analyse the run
 * or its observations were deleted.
 */
export function compareFindings({
  stored,
  found,
  wasAnalysed,
  isThere,
}: FindingsToCompare): Comparison {
  const before = new Map(stored.map((finding) => [finding.finding_id, finding]))
  const changes = {
    opened: [] as string[],
    updated: [] as string[],
    recovered: [] as string[],
    withdrawn: [] as string[],
    unchanged: [] as string[],
  }
  const put: NewFinding[] = []
  for (const finding of found) {
    const change = changeOf(before.get(finding.finding_id), finding)
    changes[change].push(finding.finding_id)
    if (change !== 'unchanged') put.push(finding)
  }
  const again = new Set(found.map(({ finding_id }) => finding_id))
  const kept: Finding[] = []
  for (const finding of stored) {
    if (again.has(finding.finding_id) || finding.state === 'withdrawn') continue
    if (wasAnalysed(finding.detector) && finding.places.every(isThere)) {
      changes.withdrawn.push(finding.finding_id)
    } else {
      kept.push(finding)
      changes.unchanged.push(finding.finding_id)
    }
  }
  return { changes, put, withdrawn: changes.withdrawn, kept }
}

function changeOf(
  before: Finding | undefined,
  now: NewFinding,
): 'opened' | 'updated' | 'recovered' | 'unchanged' {
  if (before === undefined || before.state === 'withdrawn') return 'opened'
  if (contentOf(before) === contentOf(now)) return 'unchanged'
  return now.recovered && !before.recovered ? 'recovered' : 'updated'
}

/** Returns the visible content of a finding as canonical text. */
function contentOf(finding: Finding | NewFinding): string {
  const { kind, type, severity, state, summary, detector, detector_version } = finding
  const { start_step, end_step, period, repeats, places, evidence, judge } = finding
  const { wasted_tokens, wasted_cost_usd, confidence } = finding
  const parts = [
    ...[kind, type, severity, state, summary, detector, detector_version],
    ...[start_step, end_step, period, repeats, wasted_tokens, Number(wasted_cost_usd), confidence],
    ...[judge, places, evidence],
  ]
  return canonicalJson(parts)
}

/** Combines the changes of consecutive analyses of a task. */
export function sumChanges(analyses: readonly FindingChanges[]): FindingChanges {
  const all = (change: keyof FindingChanges) => new Set(analyses.flatMap((one) => one[change]))
  const opened = all('opened')
  const withdrawn = all('withdrawn')
  const recovered = removeIds(all('recovered'), opened)
  const updated = removeIds(all('updated'), opened.union(recovered))
  const changed = opened.union(withdrawn).union(recovered).union(updated)
  return {
    opened: [...opened],
    updated: [...updated],
    recovered: [...recovered],
    withdrawn: [...withdrawn],
    unchanged: [...removeIds(all('unchanged'), changed)],
  }
}

function removeIds(ids: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...ids].filter((id) => !others.has(id)))
}
