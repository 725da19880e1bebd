import { z } from 'zod'
import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { render } from '../output.ts'
import { type ProjectApi, readAnswer } from '../project-api.ts'
import { countText } from '../terminal/formats.ts'
import { belowLines, tableOf } from '../terminal/table.ts'

const explanation = z.object({
  kind: z.string(),
  query_class: z.string(),
  store: z.object({
    chosen: z.string(),
    candidates: z.array(z.object({ store: z.string(), eligible: z.boolean(), reason: z.string() })),
  }),
  statement: z.object({ text: z.string() }),
  plan: z.array(z.string()),
  estimate: z.object({
    rows: z.number().nullable(),
    bytes: z.number().nullable(),
    rows_at_most: z.number().nullable(),
    reason: z.string().nullable(),
  }),
  limits: z.record(z.string(), z.number()),
  warnings: z.array(z.object({ code: z.string(), detail: z.string() })),
})
type Explanation = z.output<typeof explanation>

/** Prints what a query would do and cost, without running it. */
export async function explainQuery(
  body: unknown,
  { args, io, api }: { args: Arguments; io: CommandIo; api: ProjectApi },
): Promise<number> {
  if (args.value('output') === 'csv') {
    throw new UsageError('--output: got "csv" with --explain, expected table or json')
  }
  const answer = await api.post('/api/v2/observability/query/explain', body)
  const read = readAnswer(explanation, answer, api)
  io.out(render(args, answer, () => explanationPage(read, io)))
  return exitStatus.ok
}

function explanationPage(
  { kind, query_class, store, statement, plan, estimate, limits, warnings }: Explanation,
  io: CommandIo,
): string {
  const stores = store.candidates.map((one) => [
    one.store,
    one.store === store.chosen ? 'chosen' : one.eligible ? 'eligible' : 'not eligible',
    one.reason,
  ])
  const section = (title: string, text: string) => [
    '',
    io.styled('bold', title),
    ...belowLines({ text, wraps: true }, io),
  ]
  return [
    `${kind}, class ${query_class}`,
    '',
    tableOf(['STORE', 'USE', { heading: 'REASON', shrinks_to: 20 }], stores, { io }).trimEnd(),
    ...(warnings.length === 0 ? [] : ['', io.styled('bold', 'WARNINGS')]),
    ...warnings.flatMap(({ code, detail }) =>
      belowLines({ text: `${code}: ${detail}`, style: 'yellow' }, io),
    ),
    ...section('ESTIMATE', estimateText(estimate)),
    ...section(
      'LIMITS',
      Object.entries(limits)
        .map(([name, value]) => `${name}: ${countText(value)}`)
        .join('\n'),
    ),
    ...section('STATEMENT', statement.text),
    ...section('PLAN', plan.join('\n')),
    '',
  ].join('\n')
}

function estimateText({ rows, bytes, rows_at_most, reason }: Explanation['estimate']): string {
  const facts = [
    rows === null ? 'rows unknown' : `${countText(rows)} rows`,
    bytes === null ? '' : `${countText(bytes)} bytes`,
    rows_at_most === null ? '' : `at most ${countText(rows_at_most)} rows`,
  ].filter((fact) => fact !== '')
  return `${facts.join(', ')}${reason === null ? '' : `: ${reason}`}`
}
