import { z } from 'zod'
import type { Group, Rule } from '../../capabilities/incidents/rules/index.ts'
import { printable } from '../../kernel/printable.ts'
import { apiSettings, askApi } from '../ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'
import { readLintFiles } from '../lint/read-documents.ts'
import { render } from '../output.ts'
import { tableOf } from '../terminal/table.ts'
import { faultLines, readRules } from './rule-files.ts'
import { formatGroup } from './timeline.ts'

const days_max = 28

/**
 * Evaluates the rules of files on stored rows of the service, and prints what they would have done.
 * Exit status 1 when a rule has more pages a week than `--pages-max`.
 */
export async function backtest(args: Arguments, io: CommandIo): Promise<number> {
  const days = numberOf(args, 'days', { default: 14, max: days_max })
  const pages_max = numberOf(args, 'pages-max', { default: undefined, max: 1_000_000 })
  const { rules, faults } = readRules(await readLintFiles(args.words, io))
  if (faults.length > 0) {
    io.err(faultLines(faults))
    return exitStatus.usage
  }
  if (rules.length === 0) throw new UsageError('expected files with IncidentRules, got none')
  const { url, api_key } = apiSettings()
  const path = new URL('/api/v2/observability/incidents/rules/preview', url)
  const results: Backtest[] = []
  for (const rule of rules) {
    const answer = await askApi(path, { api_key, stop: io.stop, body: { rule, days } })
    const read = answerSchema.safeParse(answer)
    if (!read.success)
      throw new NoAnswer(`${url}: the answer is not a preview: check LOOPTRACE_URL`)
    results.push({ rule, preview: read.data })
  }
  const data = results.map(({ rule, preview }) => ({ rule: rule.name, ...preview }))
  io.out(render(args, { days, rules: data }, () => pageOf(results, days)))
  const isNoisy = data.some(
    ({ pages_per_week, pages }) => (pages_per_week ?? pages ?? 0) > (pages_max ?? Infinity),
  )
  return isNoisy ? exitStatus.findings : exitStatus.ok
}

function numberOf<Default extends number | undefined>(
  args: Arguments,
  name: string,
  bounds: { default: Default; max: number },
): number | Default {
  const text = args.value(name)
  if (text === undefined) return bounds.default
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  const min = name === 'days' ? 1 : 0
  if (value >= min && value <= bounds.max) return value
  throw new UsageError(`--${name}: got "${text}", expected ${min} to ${bounds.max}`)
}

const group = z.record(z.string(), z.string())

/** The parts of the answer that are used; another version of the API may have more. */
const answerSchema = z.object({
  from: z.string(),
  to: z.string(),
  available_from: z.string().nullish(),
  transitions: z.array(
    z.object({ at: z.string(), group, type: z.string(), severity: z.string().nullish() }),
  ),
  transitions_total: z.number().optional(),
  warnings: z.array(z.string()).default([]),
  minutes_firing: z.number(),
  pages: z.number().optional(),
  pages_per_week: z.number().nullable(),
  recipients: z.array(z.string()),
  groups: z.number(),
  overflow: z.number(),
  series: z.array(
    z.object({
      group,
      points: z.array(z.object({ at: z.string(), value: z.number().nullable() })),
    }),
  ),
})

type Preview = z.output<typeof answerSchema>
type Backtest = { rule: Rule; preview: Preview }

function pageOf(results: readonly Backtest[], days: number): string {
  const changes = results.flatMap(({ rule, preview }) =>
    preview.transitions.map((one) => [
      one.at,
      rule.name,
      groupText(one.group),
      one.type,
      one.severity,
    ]),
  )
  const sums = results.map(({ rule, preview }) => [
    rule.name,
    preview.transitions.filter(({ type }) => type === 'fired').length,
    Math.round(preview.minutes_firing),
    preview.pages_per_week === null
      ? `${preview.pages ?? 0} in less than a day`
      : Number(preview.pages_per_week.toFixed(1)),
    preview.overflow > 0 ? `${preview.groups} (${preview.overflow} more left out)` : preview.groups,
    preview.recipients.join(', ') || 'none',
  ])
  const notes = results.flatMap(({ rule, preview }) => notesOf(rule, preview, days))
  return [
    changes.length === 0
      ? 'No rule fires.\n'
      : tableOf(['TIME', 'RULE', 'GROUP', 'CHANGE', 'SEVERITY'], textsOf(changes)),
    '\n',
    tableOf(
      ['RULE', 'FIRED', 'MINUTES FIRING', 'PAGES A WEEK', 'GROUPS', 'RECIPIENTS'],
      textsOf(sums),
    ),
    ...notes.map((note) => `\n${note}\n`),
  ].join('')
}

function textsOf(rows: readonly (readonly unknown[])[]): string[][] {
  return rows.map((row) => row.map((cell) => printable(String(cell ?? ''))))
}

function groupText(of: Group): string {
  return formatGroup(of) || '-'
}

/** Says where the result is cut: a rule that had no rows cannot fire. */
function notesOf({ name }: Rule, preview: Preview, days: number): string[] {
  const { from, to, available_from, transitions, transitions_total = 0, warnings } = preview
  const notes = [...warnings]
  if (available_from === null) notes.push('The project has no rows of these days.')
  if (available_from && Date.parse(available_from) > Date.parse(from)) {
    const available = (Date.parse(to) - Date.parse(available_from)) / 86_400_000
    notes.push(
      `Rows are stored from ${available_from}, so that ${available.toFixed(1)} of ${days} days were evaluated.`,
    )
  }
  if (transitions_total > transitions.length) {
    notes.push(`The first ${transitions.length} of ${transitions_total} changes are shown.`)
  }
  return notes.map((note) => `${name}: ${printable(note)}`)
}
