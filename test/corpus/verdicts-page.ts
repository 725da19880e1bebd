import { isMedium, scores, type TypeScore, type Verdict } from './measure.ts'

/** The reference page of what the detectors find in the labelled runs. */
export function verdictsPage(verdicts: readonly Verdict[]): string {
  const healthy = verdicts.filter(({ run }) => run.healthy)
  const flagged = healthy.filter(({ findings }) => findings.some(isMedium))
  const rows = scores(verdicts)
  return [
    '# What the detectors find in labelled runs',
    '',
    'Every labelled run of `test/corpus/` goes through reconstruction and all detectors with their',
    'default settings. Labels were set from the rules alone. A finding counts as right when a label',
    'names its type and it begins within two steps (or one lap) of the step labelled. What no label',
    'names counts as wrong when it is a loop of any severity, or anything else from medium on, unless',
    'the run says that two readers may judge that type differently there. `make verdicts` writes this.',
    '',
    `${verdicts.length} runs: ${verdicts.length - healthy.length} with trouble, ${healthy.length} healthy ones that look like it.`,
    `Healthy runs with a finding of medium or above: **${flagged.length}**.`,
    '',
    ...['loop', 'failure', 'context'].flatMap((kind) => table(kind, rows)),
    ...confusion(verdicts),
    ...list('Missed', verdicts.flatMap(missedLines)),
    ...list('Found and not labelled', verdicts.flatMap(wrongLines)),
  ].join('\n')
}

/** One line for each label that was missed. */
export function missedLines({ run, missed, findings }: Verdict): string[] {
  const found = findings.map(({ type, start_step }) => `${type}@${start_step ?? '-'}`).join(', ')
  return missed.map(
    ({ kind, type, start_step }) =>
      `${run.name}: ${kind} \`${type}\` at step ${start_step ?? '-'} (found: ${found || 'nothing'})`,
  )
}

/** One line for each finding that no label names. */
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
}

function table(kind: string, rows: readonly TypeScore[]): string[] {
  const cells = rows
    .filter((row) => row.kind === kind)
    .map(
      ({ type, runs, labels, found, wrong, precision, recall }) =>
        `| \`${type}\` | ${runs} | ${found} of ${labels} | ${wrong} | ${shown(precision)} | ${shown(recall)} |`,
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

function shown(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}

/** Which types were found where another one was labelled. */
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
