import { type RunScore, scoreRuns, sumScores } from '../../bench/detection/score-runs.ts'
import { readServiceRuns, type ServiceRun } from '../../bench/detection/service-runs.ts'

const folder = new URL('../../bench/detection/corpus/service-runs/', import.meta.url).pathname

/** The runs of customer-service agents on which the detectors are mended. */
export function serviceRuns(): ServiceRun[] {
  return ['tuning-a', 'tuning-b'].flatMap((name) => readServiceRuns(`${folder}${name}.jsonl.gz`))
}

/** Runs that were written while the rules of decision 72 were: faults, and healthy runs that look like them. */
export function ownServiceRuns(): ServiceRun[] {
  return readServiceRuns(`${folder}own.jsonl.gz`)
}

/** The score of the first ones. */
export function serviceScore(): RunScore {
  return sumScores(scoreRuns(serviceRuns()))
}

/**
 * The figures on six sets that were kept aside, of 2026-11-29 and 2026-11-30; they are not in this
 * repository. C and D were measured before decision 72 and after it, E after it, all of them and F after decision 74.
 */
const blind: Readonly<Record<string, readonly string[]>> = {
  medium: ['4 of 139', '3 of 43', '2, now 2 of 45', '3, now 2 of 55', '0 of 51', '1 of 63'],
  low: ['70 of 139', '20 of 43', '29, now 29 of 45', '37, now 38 of 55', '34 of 51', '43 of 63'],
  altered_value: ['6 of 6', '4 of 4', '2, now 2 of 4', '2, now 2 of 3', '2 of 2', '5 of 7'],
  asked_again: ['2 of 6', '0 of 4', '0, now 2 of 2', '0, now 2 of 4', '0 of 2', '–'],
  claimed_never_called: ['2 of 8', '0 of 5', '1, now 1 of 3', '0, now 0 of 1', '0 of 1', '0 of 3'],
  constraint_broken: ['1 of 6', '3 of 5', '0, now 0 of 3', '1, now 1 of 4', '0 of 3', '1 of 2'],
  contradicted: ['1 of 7', '1 of 7', '0, now 0 of 3', '2, now 2 of 3', '1 of 5', '–'],
  hidden_tool_error: ['5 of 5', '2 of 4', '2, now 4 of 4', '2, now 2 of 3', '2 of 4', '1 of 3'],
  lost_fact: ['0 of 5', '0 of 7', '0, now 0 of 4', '0, now 0 of 2', '1 of 3', '0 of 2'],
  repeated_failing_call: ['5 of 6', '3 of 5', '5, now 5 of 5', '3, now 3 of 4', '3 of 4', '–'],
}

/** The part of the reference page about runs of customer-service agents. */
export function serviceSection(): string[] {
  const { healthy, recall } = serviceScore()
  return [
    '## Customer-service agents',
    '',
    'Writers who had not read the detectors wrote and labelled these runs. On the first ones the detectors are mended; the',
    'blind ones were not read while mending: the other half of the same two writers (A), and half of a later writer, who was',
    'asked for runs that are hard (B), half of a third (C), a fourth (D), a fifth (E), and of a sixth and a seventh (F).',
    'A and B were measured before decisions 63 and 64, C and D after them and again later (“now”), E after decision 72, F after 74.',
    'Where an answer says the same in other words, most faults are missed: rules read words.',
    'The judge of a project reads meanings. `npm run bench:service-runs -- --errors <files>` measures any such files, and',
    'lists what is wrong.',
    '',
    '| healthy runs with a finding | mended on | blind A | blind B | blind C | blind D | blind E | blind F |',
    '|---|---|---|---|---|---|---|---|',
    ...(['medium', 'low'] as const).map(
      (severity) =>
        `| ${severity} or higher | ${tell(healthy[severity])} | ${blind[severity]?.join(' | ')} |`,
    ),
    '',
    '| fault | found, mended on | blind A | blind B | blind C | blind D | blind E | blind F |',
    '|---|---|---|---|---|---|---|---|',
    ...Object.entries(recall).map(
      ([kind, { any }]) => `| \`${kind}\` | ${tell(any)} | ${blind[kind]?.join(' | ')} |`,
    ),
    '',
  ]
}

function tell({ part, of }: { part: number; of: number }): string {
  return `${part} of ${of}`
}
