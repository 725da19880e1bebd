import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import type { FindingDraft } from '../../src/capabilities/detection/contract.ts'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import { severities } from '../../src/model/severity.ts'
import { rowsOf, type ServiceRun, stepOfMessage } from './service-runs.ts'

/** The findings of a labelled run. `found` is the one that names its fault. */
export type ScoredRun = {
  run: ServiceRun
  findings: readonly FindingDraft[]
  found: FindingDraft | undefined
}

/** A share as a fraction. */
type Share = { part: number; of: number }

/** What the detectors say about labelled runs. */
export type RunScore = {
  /** Healthy runs with a finding of this severity or a higher one. */
  healthy: Record<FindingDraft['severity'], Share>
  /** Findings of healthy runs by type and severity, such as `lost_context medium`. */
  false_alarms: Record<string, number>
  /** Faulty runs whose fault is found, at any severity and at medium or higher, by kind. */
  recall: Record<string, { any: Share; medium: Share }>
}

/** Types of findings that name a kind of fault. */
const typesOfFault: Record<string, readonly string[]> = {
  asked_again: ['repeated_question', 'lost_context'],
  contradicted: ['contradicted_fact', 'unsupported_value', 'lost_context'],
  altered_value: ['unsupported_value', 'contradicted_fact'],
  hidden_tool_error: ['hidden_tool_error', 'false_success', 'tool_failure', 'claimed_not_called'],
  repeated_failing_call: ['repeat_error', 'error_streak', 'cycle', 'repeat_call'],
  lost_fact: ['lost_context', 'contradicted_fact', 'repeated_question'],
  claimed_never_called: ['claimed_not_called', 'false_success', 'premature_stop'],
  constraint_broken: ['lost_context'],
  loop: ['repeat_error', 'error_streak', 'cycle', 'repeat_call', 'similar_call', 'monologue'],
}

/** A finding may begin this many steps beside the labelled message. */
const steps_beside_max = 2

/** Runs all detectors with their default settings on labelled runs. */
export function scoreRuns(runs: readonly ServiceRun[]): ScoredRun[] {
  const settings = defaultDetectionSettings()
  return runs.map((run) => {
    const { findings, failed } = runDetectors(reconstruct(rowsOf(run)), settings)
    if (failed[0] !== undefined) throw new Error(run.id, { cause: failed[0].error })
    return { run, findings, found: findFault(run, findings) }
  })
}

function findFault(run: ServiceRun, findings: readonly FindingDraft[]): FindingDraft | undefined {
  const { fault } = run
  if (fault === null) return undefined
  const step = stepOfMessage(run, fault.at_message)
  const types = typesOfFault[fault.kind] ?? []
  return findings
    .filter(({ type, start_step, end_step }) => {
      if (!types.includes(type)) return false
      if (start_step === null || end_step === null) return true
      return start_step - steps_beside_max <= step && step <= end_step + steps_beside_max
    })
    .toSorted((a, b) => rankOf(b) - rankOf(a))[0]
}

/** Counts false alarms on healthy runs and found faults. */
export function sumScores(scored: readonly ScoredRun[]): RunScore {
  const good = scored.filter(({ run }) => run.outcome === 'healthy')
  const healthy = Object.fromEntries(
    severities.map((severity) => [severity, shareOf(good, isAtLeast(severity))]),
  ) as RunScore['healthy']
  const false_alarms: Record<string, number> = {}
  for (const { type, severity } of good.flatMap(({ findings }) => findings)) {
    const key = `${type} ${severity}`
    false_alarms[key] = (false_alarms[key] ?? 0) + 1
  }
  const byKind = Map.groupBy(
    scored.filter(({ run }) => run.fault !== null),
    ({ run }) => run.fault?.kind ?? '',
  )
  const recall = Object.fromEntries(
    [...byKind].toSorted().map(([kind, all]) => [
      kind,
      {
        any: shareOf(all, ({ found }) => found !== undefined),
        medium: shareOf(all, ({ found }) => found !== undefined && rankOf(found) >= 2),
      },
    ]),
  )
  return { healthy, false_alarms, recall }
}

function isAtLeast(severity: FindingDraft['severity']) {
  const rank = severities.indexOf(severity)
  return ({ findings }: ScoredRun) => findings.some((finding) => rankOf(finding) >= rank)
}

function rankOf({ severity }: FindingDraft): number {
  return severities.indexOf(severity)
}

function shareOf(all: readonly ScoredRun[], is: (one: ScoredRun) => boolean): Share {
  return { part: all.filter(is).length, of: all.length }
}
