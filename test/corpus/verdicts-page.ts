import { findingKinds } from '../../src/model/finding-kind.ts'
import { isMedium, scores, type TypeScore, type Verdict } from './measure.ts'
import { serviceSection } from './service-section.ts'

/** The reference page of the detectors' findings in the labelled runs. */
export function verdictsPage(verdicts: readonly Verdict[]): string {
  const healthy = verdicts.filter(({ run }) => run.healthy)
  const flagged = healthy.filter(({ findings }) => findings.some(isMedium))
  const rows = scores(verdicts)
  return [
    '# What the detectors find in labelled runs',
    '',
    'All detectors with their default settings analyse every labelled run of `test/corpus/`. Labels',
    'were set from the rules alone. A finding is correct if a label names its type and it starts within',
    'two steps (or one iteration) of the labelled step. A finding without a label is wrong if it is a',
    'loop of any severity, or another finding of at least medium severity, unless the run marks its',
    'type as ambiguous. `make verdicts` writes this page.',
    '',
    '**All figures on this page are mended on these runs**: a run that a detector got wrong was a reason to change the',
    'detector. So 1.000 says that no known run fails, not how often a detector is right on your agents. On data of others,',
    'the figures that were measured are far lower:',
    '',
    '| detector | here | on data of others (2026-11-30) |',
    '|---|---|---|',
    '| `lost_context`: instructions that were not kept, precision · recall | 1.000 · 1.000 | six writers 0.859 · 0.629, one whose people hardly ever give an order 0.500 · 0.196; of medium severity 0.904 · 0.507 and 0.500 · 0.098 |',
    '| `unsupported_value`: invented values that are flagged, recall | 1.000 | 5 of 54 (0.09) |',
    '| `unsupported_value`: flags that are right, precision | 1.000 | 6 of 6 |',
    '',
    ...instructions,
    '',
    'All detectors were measured on [runs of customer-service agents](#customer-service-agents). The blind figures of `unsupported_value` are in',
    '[how often verification is right](verification.md). `GET /api/v1/feedback/detector-precision` has those of your project.',
    '',
    `${verdicts.length} runs: ${verdicts.length - healthy.length} with trouble, ${healthy.length} similar healthy ones.`,
    `Healthy runs with a finding of medium or above: **${flagged.length}**.`,
    '',
    ...findingKinds.flatMap((kind) => table(kind, rows)),
    ...serviceSection(),
    ...confusion(verdicts),
    ...list('Missed', verdicts.flatMap(missedLines)),
    ...list('Found and not labelled', verdicts.flatMap(wrongLines)),
  ].join('\n')
}

/** The figures of broken instructions, written by hand: the blind half is not in this repository. */
const instructions: readonly string[] = [
  'Broken instructions are measured on 202 conversations of people who had not read the code',
  '(`bench/detection/corpus/instructions`), one for each broken instruction and each finding without one:',
  '`npm run bench -- detection instructions FILE`. What cannot be checked by rules counts as missed.',
  '',
  'IFEval is public: requests with one to three rules each, whose checks are programs. A program found what the answers broke;',
  'broken rules of kinds that rules cannot check here (counts of a letter, parts between dividers) count as missed.',
  'Texts of the blind halves were never read. Their sums were, for decisions 69 and 74, so the lines with “now” are slightly too good.',
  '',
  '| conversations | broken | precision | recall |',
  '|---|---|---|---|',
  '| 214 others, kept aside (blind, 2026-11-29) | 102 | 0.815 | 0.735 |',
  '| 151 of a later writer, kept aside (blind, 2026-11-29), a sixth of them innocent texts that look like instructions | 84 | 0.725 | 0.595 |',
  '| 109 of a third writer, before anybody looked at them (2026-11-29) | 43 | 0.667 | 0.698 |',
  '| the same 109, mended on | 43 | 1.000 | 0.884 |',
  '| 111 others of the third writer, kept aside (blind, 2026-11-29) | 57 | 0.705 | 0.544 |',
  '| the same 111, now (blind) | 57 | **0.865** | **0.561** |',
  '| the same 111, now, findings of medium severity or above | 57 | 0.871 | 0.474 |',
  '| 158 of three more writers, before anybody looked at them (2026-11-30) | 85 | 0.704 | 0.447 |',
  '| the same 158, mended on | 85 | 0.973 | 0.847 |',
  '| 143 others of the three, before anybody looked at them | 63 | 0.653 | 0.508 |',
  '| the same 143, mended on | 63 | 0.914 | 0.841 |',
  '| 299 others of the three, kept aside (blind, 2026-11-30), before these were looked at | 129 | 0.579 | 0.341 |',
  '| the same 299, now (blind) | 129 | **0.867** | **0.605** |',
  '| the same 299, now, findings of medium severity or above | 129 | 0.881 | 0.457 |',
  '| 152 of a fifth and a sixth writer, before anybody looked at them (2026-11-30) | 62 | 0.707 | 0.661 |',
  '| 188 others of these two, kept aside (blind), before the 152 were looked at | 94 | 0.722 | 0.691 |',
  '| the same 188, now (blind) | 94 | **0.846** | **0.702** |',
  '| the same 188, now, findings of medium severity or above | 94 | 0.949 | 0.596 |',
  '| 100 of a seventh writer, who was asked to say each rule in another way, before anybody looked at them (2026-11-30) | 50 | 0.667 | 0.240 |',
  '| the same 100, mended on | 50 | 0.815 | 0.440 |',
  '| 100 of an eighth writer, whose people hardly ever give an order, before the seventh was looked at | 51 | 0.385 | 0.098 |',
  '| the same 100, now (blind) | 51 | **0.500** | **0.196** |',
  '| the same 100, now, findings of medium severity or above | 51 | 0.500 | 0.098 |',
  '| 270 requests of IFEval with answers of a model, before anybody looked at them (2026-11-29) | 107 | 0.719 | 0.383 |',
  '| the same 270, mended on the other half of IFEval only | 107 | 0.827 | 0.579 |',
  '| 96 of the 202, before anybody looked at them | 42 | 0.816 | 0.738 |',
  '| all 202, mended on | 88 | 0.988 | 0.966 |',
  '| all 202, by the reader of 2026-11-28 | 88 | 0.500 | 0.080 |',
]

/** One line for each missed label. */
export function missedLines({ run, missed, findings }: Verdict): string[] {
  const found = findings.map(({ type, start_step }) => `${type}@${start_step ?? '-'}`).join(', ')
  return missed.map(
    ({ kind, type, start_step }) =>
      `${run.name}: ${kind} \`${type}\` at step ${start_step ?? '-'} (found: ${found || 'nothing'})`,
  )
}

/** One line for each finding without a label. */
export function wrongLines({ run, wrong }: Verdict): string[] {
  const about = run.healthy ? 'healthy' : 'ill'
  return wrong.map(
    ({ type, severity, start_step, summary }) =>
      `${run.name} (${about}): \`${type}\` ${severity} at step ${start_step ?? '-'}: ${summary}`,
  )
}

const titles: Readonly<Record<string, string>> = {
  loop: 'Loops',
  failure: 'Failures',
  context: 'Context',
  claim: 'Claims',
}

function table(kind: string, rows: readonly TypeScore[]): string[] {
  const cells = rows
    .filter((row) => row.kind === kind)
    .map(
      ({ type, runs, labels, found, wrong, precision, recall }) =>
        `| \`${type}\` | ${runs} | ${found} of ${labels} | ${wrong} | ${formatNumber(precision)} | ${formatNumber(recall)} |`,
    )
  return [
    `## ${titles[kind] ?? kind}`,
    '',
    '| type | runs | found | wrong | precision | recall |',
    '|---|---|---|---|---|---|',
    ...cells,
    '',
  ]
}

function formatNumber(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}

/** The types that were found where another one was labelled. */
function confusion(verdicts: readonly Verdict[]): string[] {
  const counts = new Map<string, number>()
  for (const pair of verdicts.flatMap(confusedPairs)) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  if (counts.size === 0) return ['## Confusion', '', 'No label was told as another type.', '']
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    '## Confusion',
    '',
    '| labelled | found instead | times |',
    '|---|---|---|',
    ...rows.map(([pair, count]) => `${pair} ${count} |`),
    '',
  ]
}

function confusedPairs({ missed, wrong }: Verdict): string[] {
  const others = new Set(wrong.map(({ type }) => `\`${type}\``))
  if (others.size === 0) others.add('nothing')
  return missed.flatMap(({ type }) => [...others].map((other) => `| \`${type}\` | ${other} |`))
}

function list(title: string, lines: readonly string[]): string[] {
  const items = lines.length === 0 ? ['Nothing.'] : lines.map((line) => `- ${line}`)
  return [`## ${title}`, '', ...items, '']
}
