import { hash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import {
  quote_chars_max,
  type Recomputed,
  recomputeTrust,
  runExportFormat,
  scoredClaim,
  trustScore,
  usedCalibrations,
} from '../../capabilities/verification/trust/index.ts'
import { printable } from '../../kernel/printable.ts'
import { Problem } from '../../kernel/problem.ts'
import { storableText } from '../../platform/relational/storable.ts'
import { accessTokenFor, apiSettings, askApi } from '../ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'
import { render } from '../output.ts'
import { tableOf } from '../terminal/table.ts'
import { parseWritten } from '../zod-faults.ts'

/**
 * Computes the trust score of a run again, by the service or from an exported run. Exit status 1
 * when a number differs, or a quote is not in its source.
 */
export async function recompute(args: Arguments, io: CommandIo): Promise<number> {
  const wanted = ['run', 'trace', 'file'].filter((name) => args.value(name) !== undefined)
  if (wanted.length !== 1) throw new UsageError('expected one of --run, --trace and --file')
  const sources = args.values('source')
  const file = args.value('file')
  if (file === undefined && sources.length > 0) throw new UsageError('--source needs --file')
  const result =
    file === undefined ? await askService(args, io) : await recomputeFile(file, sources, io)
  io.out(render(args, result, () => pageOf(result, io)))
  const isRight = result.identical && (result.quotes?.wrong.length ?? 0) === 0
  return isRight ? exitStatus.ok : exitStatus.findings
}

/** A recomputed run. `quotes` is left out when no sources were given. */
type Result = Omit<Recomputed, 'differences' | 'formula_version'> & {
  run_id: string
  formula_version: string
  differences: readonly unknown[]
  quotes?: QuoteCheck
}

async function recomputeFile(
  file: string,
  paths: readonly string[],
  io: CommandIo,
): Promise<Result> {
  const text = file === '-' ? await io.stdin() : (await readText(file)).toString()
  const exported = readExportedRun(file, text)
  const { run_id } = exported.run
  const result = { run_id, ...recomputeExport(file, exported) }
  if (paths.length === 0) return result
  return { ...result, quotes: checkQuotes(exported, await readSources(paths)) }
}

const offsets = z.tuple([z.int().nonnegative(), z.int().nonnegative()])

/** Evidence of an export; the formula reads none of it. */
const evidence = z.looseObject({
  source: z.string(),
  quote: z.string(),
  at: offsets.nullable(),
  digest: z.string().nullable(),
})

type Evidence = z.output<typeof evidence>

const exportSchema = z.object({
  format: z.literal(runExportFormat),
  run: trustScore.extend({
    run_id: z.string(),
    formula_version: z.string(),
    answer: z.object({ digest: z.string() }).nullable(),
  }),
  calibrations: usedCalibrations,
  claims: z.array(
    scoredClaim.extend({
      text: z.string(),
      at: offsets,
      values: z.array(z.object({ evidence: z.array(evidence) })),
      results: z.array(scoredClaim.shape.results.element.extend({ evidence: z.array(evidence) })),
    }),
  ),
})

type ExportedRun = z.output<typeof exportSchema>

/** Reads an exported run. Throws `UsageError` for any other text. */
export function readExportedRun(name: string, text: string): ExportedRun {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`)
  }
  const read = parseWritten(exportSchema, value)
  if ('data' in read) return read.data
  const [fault] = read.faults
  const place = fault === undefined || fault.path.length === 0 ? '' : ` ${fault.path.join('.')}:`
  throw new UsageError(
    `${name}:${place} ${fault?.message}. Expected the reply of GET …/runs/{run_id}/export`,
  )
}

/** Computes the trust of an exported run. Throws `UsageError` for one that has no single result. */
export function recomputeExport(
  name: string,
  { run, calibrations, claims }: ExportedRun,
): Recomputed {
  const { formula_version: formula, trust_score, interval, coverage, calibrated, caps } = run
  const trust = { trust_score, interval, coverage, calibrated, caps }
  try {
    return recomputeTrust({ formula, calibrations, trust, claims })
  } catch (error) {
    if (!(error instanceof Problem || error instanceof RangeError)) throw error
    throw new UsageError(`${name}: ${error.message}`)
  }
}

/** The parts of the answers that are used; another version of the API may have more. */
const recomputedSchema = z.object({
  run_id: z.string(),
  formula_version: z.string(),
  stored: trustScore,
  recomputed: trustScore,
  identical: z.boolean(),
  differences: z.array(z.unknown()),
})
const resultSchema = z.object({ status: z.string(), run_id: z.string().nullable() })

async function askService(args: Arguments, { stop }: CommandIo): Promise<Result> {
  const { url, api_key } = apiSettings()
  const access_token = await accessTokenFor(url, { api_key, stop })
  const ask = async <Schema extends z.ZodType>(path: string, schema: Schema, body?: object) => {
    const about = { api_key, access_token, stop, ...(body && { body }) }
    const read = schema.safeParse(await askApi(new URL(`${base}/${path}`, url), about))
    if (read.success) return read.data
    throw new NoAnswer(`${url}: the answer is not a verification: check LOOPTRACE_URL`)
  }
  const trace = args.value('trace')
  let run = args.value('run')
  if (trace !== undefined) {
    const { status, run_id } = await ask(`traces/${encodeURIComponent(trace)}`, resultSchema)
    if (status !== 'verified' || run_id === null) {
      throw new UsageError(`--trace: the trace is ${printable(status)}, expected a verified trace`)
    }
    run = run_id
  }
  return ask(`runs/${encodeURIComponent(run ?? '')}/recompute`, recomputedSchema, {})
}

const base = '/api/v1/verification'

function pageOf(result: Result, io: CommandIo): string {
  const { run_id, formula_version, stored, recomputed, differences, quotes } = result
  const names = ['trust_score', 'interval', 'coverage', 'caps', 'calibrated'] as const
  const table = tableOf(
    ['', 'STORED', 'RECOMPUTED'],
    names.map((name) => [
      name.replace('_', ' '),
      describeNumber(stored[name]),
      describeNumber(recomputed[name]),
    ]),
  )
  return [
    printable(`Run ${run_id}, formula ${formula_version}`),
    `\n\n${table}\n`,
    result.identical
      ? `${io.styled('green', 'The trust score is identical.')}\n`
      : `${io.styled('red', `The trust score differs; verdicts of ${differences.length} claims differ.`)}\n`,
    quotes === undefined ? '' : describeQuotes(quotes, io),
  ].join('')
}

function describeNumber(value: Recomputed['stored'][keyof Recomputed['stored']]): string {
  if (value === null) return '–'
  if (typeof value === 'number') return String(value)
  const words = Array.isArray(value)
    ? value.map(String)
    : Object.keys(value).filter((name) => value[name] === true)
  return printable(words.join(', ')) || '–'
}

const wrong_max = 20

function describeQuotes({ checked, without_source, wrong }: QuoteCheck, io: CommandIo): string {
  const lines = wrong
    .slice(0, wrong_max)
    .map(({ claim_id, source, at, quote, found }) =>
      printable(
        `claim ${claim_id}: ${source} ${at.join('–')}: got "${found}", expected "${quote}"`,
      ),
    )
  const sum = `${checked} quotes were compared with their sources; the sources of ${without_source} are missing.`
  if (wrong.length === 0) return `${sum}\n`
  const differ = io.styled('red', `${wrong.length} quotes are not in their source.`)
  return `${sum}\n${lines.join('\n')}\n${differ}\n`
}

/** Texts by their SHA-256, in hexadecimal. */
type Sources = ReadonlyMap<string, string>

const files_max = 10_000
const bytes_max = 64 * 1024 * 1024

/** Reads files and folders as UTF-8. Throws `UsageError` for a path that cannot be read. */
async function readSources(paths: readonly string[]): Promise<Sources> {
  const sources = new Map<string, string>()
  for (const file of (await Promise.all(paths.map(listFiles))).flat()) {
    const bytes = await readText(file)
    sources.set(hash('sha256', bytes), bytes.toString())
  }
  return sources
}

async function listFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: Error) => {
    throw new UsageError(`--source: ${error.message}`)
  })
  if (!found.isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  if (files.length > files_max) {
    throw new UsageError(`--source: ${path} has ${files.length} files, expected ≤ ${files_max}`)
  }
  return files.map(({ parentPath, name }) => join(parentPath, name))
}

/** Reads a file of at most 64 MiB. */
async function readText(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path)
    if (size > bytes_max) throw new Error(`${path} has ${size} bytes, expected ≤ ${bytes_max}`)
    return await readFile(path)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** A quote that is not in its source at its offsets. */
type WrongQuote = {
  claim_id: string
  source: string
  at: readonly [number, number]
  quote: string
  /** Text of the source at the offsets. */
  found: string
}

/** Quotes that were compared with their sources. */
type QuoteCheck = {
  checked: number
  /** Quotes whose source is not among the given texts, and evidence that has no text. */
  without_source: number
  wrong: WrongQuote[]
}

/** Compares each quote of a run with its source, and each claim with the answer, by their offsets. */
export function checkQuotes({ run, claims }: ExportedRun, sources: Sources): QuoteCheck {
  const answer = { source: 'answer', digest: run.answer?.digest ?? null }
  const quotes = claims.flatMap(({ claim_id, text, at, values, results }) =>
    [
      { ...answer, quote: text, at, isWhole: true },
      ...[...values, ...results].flatMap((one) => one.evidence),
    ].map((evidence) => ({ claim_id, isWhole: false, ...evidence })),
  )
  const check: QuoteCheck = { checked: 0, without_source: 0, wrong: [] }
  for (const { claim_id, source, quote, at, digest, isWhole } of quotes) {
    const text = digest === null ? undefined : sources.get(digest)
    if (text === undefined || at === null) {
      check.without_source += 1
      continue
    }
    check.checked += 1
    const found = readQuote(text, at, isWhole ? at[1] - at[0] : quote_chars_max)
    if (found !== quote) check.wrong.push({ claim_id, source, at, quote, found })
  }
  return check
}

/** Returns the text at offsets as a run stores it. */
function readQuote(text: string, [start, end]: NonNullable<Evidence['at']>, chars_max: number) {
  return storableText(text.slice(start, end).slice(0, chars_max))
}
