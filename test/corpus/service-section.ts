import { type RunScore, scoreRuns, sumScores } from '../../bench/detection/score-runs.ts'
import { readServiceRuns, type ServiceRun } from '../../bench/detection/service-runs.ts'

const folder = new URL('../../bench/detection/corpus/service-runs/', import.meta.url).pathname

/** The runs of customer-service agents on which the detectors are mended. */
export function serviceRuns(): ServiceRun[] {
  return ['tuning-a', 'tuning-b'].flatMap((name) => readServiceRuns(`${folder}${name}.jsonl.gz`))
}

/** The score of those runs. */
export function serviceScore(): RunScore {
  return sumScores(scoreRuns(serviceRuns()))
}

/** The figures on runs that were kept aside, measured on 2026-11-29; they are not in this repository. */
const blind: Readonly<Record<string, string>> = {
  medium: '2 of 139',
  low: '68 of 139',
  altered_value: '6 of 6',
  asked_again: '0 of 6',
  claimed_never_called: '0 of 8',
  constraint_broken: '0 of 6',
  contradicted: '1 of 7',
  hidden_tool_error: '5 of 5',
  lost_fact: '0 of 5',
  repeated_failing_call: '5 of 6',
}

/** The part of the reference page about runs of customer-service agents. */
export function serviceSection(): string[] {
  const { healthy, recall } = serviceScore()
  return [
    '## Customer-service agents',
    '',
    'Two writers who had not read the detectors wrote and labelled these runs. On one half the detectors are mended; the',
    'other half is blind: it was not read while mending. `npm run bench:service-runs -- --errors <files>` measures',
    'any such files, and lists what is wrong.',
    '',
    '| healthy runs with a finding | mended on | blind |',
    '|---|---|---|',
    ...(['medium', 'low'] as const).map(
      (severity) => `| ${severity} or higher | ${tell(healthy[severity])} | ${blind[severity]} |`,
    ),
    '',
    '| fault | found, mended on | found, blind |',
    '|---|---|---|',
    ...Object.entries(recall).map(
      ([kind, { any }]) => `| \`${kind}\` | ${tell(any)} | ${blind[kind]} |`,
    ),
    '',
  ]
}

function tell({ part, of }: { part: number; of: number }): string {
  return `${part} of ${of}`
}
