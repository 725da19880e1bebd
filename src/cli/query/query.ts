import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import { durationMs } from '../../kernel/duration.ts'
import { isUuid } from '../../kernel/ids.ts'
import { printable } from '../../kernel/printable.ts'
import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { didYouMean } from '../did-you-mean.ts'
import { instantFrom, pageEndText } from '../list-options.ts'
import { render } from '../output.ts'
import { openProjectApi, type ProjectApi, readAnswer, readPages } from '../project-api.ts'
import { countText, durationText } from '../terminal/formats.ts'
import { type Column, tableOf } from '../terminal/table.ts'
import { explainQuery } from './explain-query.ts'

const root = '/api/v2/observability'

/** Runs or explains a query, or runs a saved one, and prints the rows. */
export async function query(args: Arguments, io: CommandIo): Promise<number> {
  const sources = [args.words[0], args.value('file'), args.value('saved')]
  if (sources.filter((source) => source !== undefined).length !== 1) {
    throw new UsageError('expected one of a query, --file and --saved')
  }
  const api = openProjectApi(io)
  const window = windowFrom(args, io)
  const { path, body } =
    args.value('saved') === undefined
      ? await writtenQuery(args, io, window)
      : await savedQuery(args, { api, window })
  if (args.flag('explain')) return explainQuery(body, { args, io, api })
  const ask = (page: { cursor: string | undefined; limit: number | undefined }) => {
    const { cursor, limit } = page
    return api.post(path, {
      ...body,
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
  }
  // An aggregate is one page without a cursor.
  const answer = path.endsWith('/aggregate')
    ? { next_cursor: null, ...(await askOnce(args, ask)) }
    : await readPages(ask, { items: 'rows', args, api })
  const read = readAnswer(answerSchema, answer, api)
  io.out(formRows(read, answer, { args, io }))
  return exitStatus.ok
}

type Window = ReturnType<typeof windowFrom>

async function askOnce(
  args: Arguments,
  ask: (page: { cursor: undefined; limit: number | undefined }) => Promise<unknown>,
): Promise<object> {
  if (args.flag('all') || args.value('cursor') !== undefined) {
    throw new UsageError('an aggregate has one page: expected --limit without --all and --cursor')
  }
  const limit = args.value('limit')
  const answer = await ask({
    cursor: undefined,
    limit: limit === undefined ? limit : Number(limit),
  })
  return typeof answer === 'object' && answer !== null ? answer : {}
}

async function writtenQuery(args: Arguments, io: CommandIo, window: Window) {
  const [text] = args.words
  if (args.values('param').length > 0) throw new UsageError('--param needs --saved')
  const source = args.value('file') ?? 'the query'
  const body = readQueryText(text ?? (await readSource(source, io)), source)
  const isAggregate = Object.hasOwn(body, 'measures')
  return {
    path: `${root}/query${isAggregate ? '/aggregate' : ''}`,
    body: { ...body, ...(window !== undefined && { window }) },
  }
}

async function readSource(path: string, io: CommandIo): Promise<string> {
  if (path === '-') return io.stdin()
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`)
  }
}

async function savedQuery(args: Arguments, { api, window }: { api: ProjectApi; window: Window }) {
  if (args.flag('explain')) {
    throw new UsageError('--explain needs a query: expected it as an argument or with --file')
  }
  const parameters = parametersOf(args.values('param'))
  const id = await findSavedQuery(args.value('saved') ?? '', api)
  const path = `${root}/saved-queries/${encodeURIComponent(id)}/run`
  return { path, body: { parameters, ...(window !== undefined && { window }) } }
}

const answerSchema = z.object({
  rows: z.array(z.record(z.string(), z.unknown())),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  next_cursor: z.string().nullable(),
  truncated: z.boolean().optional(),
  served_by: z.string(),
  fallback_reason: z.string().nullable(),
  stats: z.object({ rows_read: z.number().nullable(), duration_ms: z.number() }),
})
type Answer = z.output<typeof answerSchema>

function formRows(
  answer: Answer,
  raw: unknown,
  { args, io }: { args: Arguments; io: CommandIo },
): string {
  const { columns, rows } = answer
  if (args.value('output') === 'csv') return rowsCsv(columns, rows, io)
  return render(args, raw, () => {
    const table = rows.length === 0 ? '' : `${rowsTable(columns, rows, io)}\n`
    return `${table}${endLines(answer).join('\n')}\n`
  })
}

function endLines({ rows, next_cursor, truncated, served_by, fallback_reason, stats }: Answer) {
  const read = stats.rows_read === null ? '' : `, ${countText(stats.rows_read)} rows read`
  return [
    pageEndText({ shown: rows.length, next_cursor }, 'row'),
    ...(truncated === true ? ['There are more groups: use --limit or a filter.'] : []),
    `Answered by ${served_by} in ${durationText(stats.duration_ms)}${read}.`,
    ...(fallback_reason === null ? [] : [`The preferred store did not answer: ${fallback_reason}`]),
  ]
}

const listSchema = z.object({
  saved_queries: z.array(z.object({ saved_query_id: z.string(), name: z.string() })),
  next_cursor: z.string().nullable(),
})

/** A project has 1,000 saved queries at most by default. */
const pages_max = 10
const page_size = '200'

/** Finds the id of a saved query by its name or id. Throws `UsageError` for an unknown name. */
async function findSavedQuery(name: string, api: ProjectApi): Promise<string> {
  if (isUuid(name)) return name
  const names: string[] = []
  const asked = new URLSearchParams({ limit: page_size })
  for (let page = 0; page < pages_max; page++) {
    const answer = await api.get('/api/v2/observability/saved-queries', asked)
    const { saved_queries, next_cursor } = readAnswer(listSchema, answer, api)
    const found = saved_queries.find((one) => one.name === name)
    if (found !== undefined) return found.saved_query_id
    names.push(...saved_queries.map((one) => one.name))
    if (next_cursor === null) break
    asked.set('cursor', next_cursor)
  }
  throw new UsageError(
    `--saved: got "${name}", expected ${knownText(names)}${didYouMean(name, names)}`,
  )
}

const shown_max = 20

function knownText(names: readonly string[]): string {
  if (names.length === 0) return 'the name of a saved query; the project has no saved queries'
  const more = names.length > shown_max ? ` and ${names.length - shown_max} more` : ''
  return `one of ${names.slice(0, shown_max).join(', ')}${more}`
}

/** A column of an answer. */
type AnswerColumn = { name: string; type: string }

/** Rows by the names of their columns. */
type AnswerRows = readonly Readonly<Record<string, unknown>>[]

const numbers = new Set(['integer', 'decimal', 'float'])
const widthLeast = 12

/** Formats rows as a table; columns of text are cut to fit a terminal. */
export function rowsTable(
  columns: readonly AnswerColumn[],
  rows: AnswerRows,
  io: Pick<CommandIo, 'columns' | 'styled'>,
): string {
  const heads = columns.map(({ name, type }): Column => {
    const heading = name.toUpperCase()
    return numbers.has(type) ? { heading, align: 'right' } : { heading, shrinks_to: widthLeast }
  })
  const cells = rows.map((row) => columns.map(({ name }) => valueText(row[name])))
  return tableOf(heads, cells, { io })
}

/** Returns a value as text: empty for an unknown one, JSON for a list or map. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * Formats rows as CSV (RFC 4180) with a line of names. A text that a spreadsheet would run as a formula
 * begins with an apostrophe. At a terminal, control characters are escaped.
 */
export function rowsCsv(
  columns: readonly AnswerColumn[],
  rows: AnswerRows,
  { columns: width }: Pick<CommandIo, 'columns'>,
): string {
  const isTerminal = width() !== undefined
  const lines = [
    columns.map(({ name }) => csvField(name)),
    ...rows.map((row) => columns.map(({ name }) => csvField(row[name]))),
  ]
  return lines
    .map((fields) => fields.join(','))
    .map((line) => `${isTerminal ? printable(line) : line}\r\n`)
    .join('')
}

function csvField(value: unknown): string {
  const text = valueText(value)
  const isFormula =
    typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+$/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Reads a query from JSON or YAML. Throws `UsageError`; `source` names the text in it. */
export function readQueryText(text: string, source: string): Record<string, unknown> {
  const value = parsedFrom(text, source)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new UsageError(
    `${source}: expected an object such as {"entity": "tasks", "window": {"from": …, "to": …}}; see docs/guides/query.md`,
  )
}

function parsedFrom(text: string, source: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    throw new UsageError(`${source}: expected JSON or YAML: ${reason}`)
  }
}

/**
 * Returns the window of the options, or undefined without them: `--last`, or `--from` with `--to`, which
 * is now by default. Throws `UsageError`.
 */
export function windowFrom(
  args: Arguments,
  io: Pick<CommandIo, 'now_ms'>,
): { from: string; to: string } | undefined {
  const [last, from, to] = ['last', 'from', 'to'].map((name) => args.value(name))
  const now = new Date(io.now_ms()).toISOString()
  if (last !== undefined) {
    if ((from ?? to) !== undefined)
      throw new UsageError('got --last with --from or --to, expected one of them')
    if (Number.isNaN(durationMs(last))) {
      throw new UsageError(`--last: got "${last}", expected a duration such as 15m, 24h or 7d`)
    }
    return { from: instantFrom('last', last, io), to: now }
  }
  if (from === undefined) {
    if (to === undefined) return undefined
    throw new UsageError('got --to without --from, expected both or --last')
  }
  return {
    from: instantFrom('from', from, io),
    to: to === undefined ? now : instantFrom('to', to, io),
  }
}

/** Reads the parameters of a saved query: `name=value`. Throws `UsageError`. */
export function parametersOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`--param: got "${pair}", expected name=value`)
      return [pair.slice(0, at), valueFrom(pair.slice(at + 1))]
    }),
  )
}

function valueFrom(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
