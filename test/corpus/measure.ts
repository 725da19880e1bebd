import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import {
  type FindingDraft,
  type FindingKind,
  severities,
} from '../../src/capabilities/detection/contract.ts'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import type { Label, LabelledRun } from './labelled-run.ts'

/** The findings of one labelled run, compared with its labels. */
export type Verdict = {
  run: LabelledRun
  findings: readonly FindingDraft[]
  /** Labels without a finding. */
  missed: readonly Label[]
  /** Findings without a label: loops of any severity, others from medium on. */
  wrong: readonly FindingDraft[]
  /** Findings below medium without a label that are not loops. */
  noted: readonly FindingDraft[]
}

/** The numbers of one type. */
export type TypeScore = {
  kind: FindingKind
  type: string
  /** Runs that have it. */
  runs: number
  labels: number
  found: number
  /** Findings of the type without a label. */
  wrong: number
  /** 0..1; null without findings or labels. */
  precision: number | null
  recall: number | null
}

/** A finding may begin this many steps beside its label. */
const steps_beside_max = 2

/** Runs all detectors with their default settings over the runs. */
export function measure(runs: readonly LabelledRun[]): Verdict[] {
  const settings = defaultDetectionSettings()
  return runs.map((run) => {
    const { findings } = runDetectors(reconstruct(run.observations()), settings)
    const isTold = (finding: FindingDraft) => run.labels.some((label) => fits(finding, label))
    const others = findings.filter((finding) => !isTold(finding) && !run.may.includes(finding.type))
    return {
      run,
      findings,
      missed: run.labels.filter((label) => !findings.some((finding) => fits(finding, label))),
      wrong: others.filter((finding) => finding.kind === 'loop' || isMedium(finding)),
      noted: others.filter((finding) => finding.kind !== 'loop' && !isMedium(finding)),
    }
  })
}

/** True from medium on. */
export function isMedium({ severity }: Pick<FindingDraft, 'severity'>): boolean {
  return severities.indexOf(severity) >= severities.indexOf('medium')
}

/** The numbers per type, in the order of the labels. */
export function scores(verdicts: readonly Verdict[]): TypeScore[] {
  const byType = new Map<string, TypeScore>()
  for (const { run, missed } of verdicts) {
    for (const label of run.labels) {
      const score = scoreOf(byType, label)
      score.labels++
      if (!missed.includes(label)) score.found++
    }
    for (const type of new Set(run.labels.map((label) => label.type))) {
      const score = byType.get(type)
      if (score !== undefined) score.runs++
    }
  }
  for (const finding of verdicts.flatMap(({ wrong }) => wrong)) scoreOf(byType, finding).wrong++
  return [...byType.values()].map((score) => ({
    ...score,
    precision: share(score.found, score.found + score.wrong),
    recall: share(score.found, score.labels),
  }))
}

function fits(finding: FindingDraft, label: Label): boolean {
  if (finding.kind !== label.kind || finding.type !== label.type) return false
  if (label.start_step === undefined || finding.start_step === null) return true
  const beside = Math.max(steps_beside_max, finding.period ?? 0)
  return Math.abs(finding.start_step - label.start_step) <= beside
}

function scoreOf(
  byType: Map<string, TypeScore>,
  { kind, type }: Pick<FindingDraft, 'kind' | 'type'>,
): TypeScore {
  const known = byType.get(type)
  if (known !== undefined) return known
  const fresh: TypeScore = {
    kind,
    type,
    runs: 0,
    labels: 0,
    found: 0,
    wrong: 0,
    precision: null,
    recall: null,
  }
  byType.set(type, fresh)
  return fresh
}

function share(part: number, all: number): number | null {
  return all === 0 ? null : part / all
}
