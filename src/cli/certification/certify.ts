import { isUtf8 } from 'node:buffer'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { durationMs, durationPattern } from '../../kernel/duration.ts'
import { printable } from '../../kernel/printable.ts'
import { apiSettings, askApi } from '../ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'
import { render } from '../output.ts'
import { tableOf } from '../terminal/table.ts'
import {
  type CertificationAnswer,
  certificationAnswer,
  environmentText,
  limitText,
  measuredText,
  obstaclesText,
} from './certification-answer.ts'
import { junitReport } from './junit-report.ts'
import { markdownReport } from './markdown-report.ts'

const root = '/api/v1/reliability/phase10'

/** Time between two questions for the verdict. */
const poll_ms = 1_000

/** Failed questions in a row after which the service counts as unavailable. */
const failures_max = 10

/** Exit statuses of results; any other result is not a verdict. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['certified', exitStatus.ok],
  ['rejected', 1],
  ['inconclusive', 2],
])

/** Certifies a release, waits for the verdict, and writes the reports. */
export async function certify(args: Arguments, io: CommandIo): Promise<number> {
  const request = requestOf(args)
  const timeout_ms = timeoutOf(args)
  const files = await Promise.all(args.values('eval-run').map(readEvalRunFile))
  const { url, api_key } = apiSettings()
  const ask = (path: string, body?: unknown) =>
    askApi(new URL(`${root}${path}`, url), { api_key, stop: io.stop, body })
  const say = (text: string) => {
    if (!args.flag('quiet')) io.err(`${printable(text)}\n`)
  }
  try {
    const eval_run_ids: string[] = []
    for (const file of files) {
      const { release, environment } = request
      const uploaded = await upload(ask, { release: withoutTags(release), environment, ...file })
      say(`eval run ${file.name}: ${uploaded.cases} cases, ${uploaded.failed} failed`)
      eval_run_ids.push(uploaded.eval_run_id)
    }
    const declared = readAnswer(
      await ask('/release-certification', { ...request, eval_run_ids }),
      certificationAnswer,
    )
    const ended = await waitForEnd({ ask, io, say, timeout_ms }, declared)
    await writeReports(args, ended, ask)
    io.out(render(args, ended, () => pageOf(ended)))
    return statuses.get(ended.result) ?? exitStatus.no_answer
  } catch (error) {
    if (io.stop.aborted) throw new NoAnswer('interrupted: run the same command to continue')
    throw error
  }
}

type Ask = (path: string, body?: unknown) => Promise<unknown>

/** Returns the body of the request, without eval runs. Throws `UsageError`. */
function requestOf(args: Arguments) {
  const release = releaseOf(args, 'release')
  if (release?.name === undefined) {
    throw new UsageError('--release: expected a name and a version, such as support-agent@1.4.0')
  }
  const environment = environmentOf(args)
  const [from, to] = [instantOf(args, 'from'), instantOf(args, 'to')]
  const [tags, baseline] = [args.values('tag'), releaseOf(args, 'baseline')]
  return {
    release: {
      name: release.name,
      version: release.version,
      image_digest: digestOf(args),
      tags: tags.length === 0 ? null : tags,
    },
    environment,
    policy_id: args.value('policy') ?? 'default',
    window: from === undefined && to === undefined ? null : { from, to },
    baseline: baseline && { name: baseline.name ?? null, version: baseline.version },
  }
}

type Request = ReturnType<typeof requestOf>

function withoutTags({ tags: _, ...release }: Request['release']) {
  return release
}

/** Reads the environment; null for tasks without one. */
function environmentOf(args: Arguments): string | null {
  const environment = args.value('environment')
  const isNone = args.flag('no-environment')
  if ((environment !== undefined) !== isNone) return environment ?? null
  throw new UsageError('expected either --environment with a name, or --no-environment')
}

/** Reads `name@version`, or a version. */
function releaseOf(args: Arguments, option: string) {
  const text = args.value(option)
  if (text === undefined || text === '') return undefined
  const at = text.lastIndexOf('@')
  const [name, version] = [at > 0 ? text.slice(0, at) : undefined, text.slice(at + 1)]
  if (version === '' || at === 0) {
    throw new UsageError(`--${option}: got "${text}", expected name@version`)
  }
  return { name, version }
}

function digestOf(args: Arguments): string | null {
  const text = args.value('image-digest')
  if (text === undefined || /^sha256:[0-9a-f]{64}$/.test(text)) return text ?? null
  throw new UsageError(`--image-digest: got "${text}", expected sha256: and 64 hex digits`)
}

function instantOf(args: Arguments, option: string): string | undefined {
  const text = args.value(option)
  if (text === undefined || z.iso.datetime({ offset: true }).safeParse(text).success) return text
  throw new UsageError(`--${option}: got "${text}", expected a time such as 2026-03-01T00:00:00Z`)
}

function timeoutOf(args: Arguments): number {
  const text = args.value('timeout') ?? '30m'
  if (durationPattern.test(text)) return durationMs(text)
  throw new UsageError(`--timeout: got "${text}", expected a duration such as 30m`)
}

const evalRunAnswer = z.object({
  eval_run_id: z.string(),
  cases: z.number(),
  failed: z.number(),
})

/** Uploads an eval run, or finds the equal one. Faults of the file are reported with its name. */
async function upload(ask: Ask, body: { name: string; [field: string]: unknown }) {
  try {
    return readAnswer(await ask('/eval-runs', body), evalRunAnswer)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${body.name}: ${error.message}`)
  }
}

function readAnswer<T>(answer: unknown, shape: z.ZodType<T>): T {
  const read = shape.safeParse(answer)
  if (read.success) return read.data
  throw new NoAnswer('the answer of the API has another form: check LOOPTRACE_URL')
}

type Waiting = { ask: Ask; io: CommandIo; say(text: string): void; timeout_ms: number }

/** Asks until the certification has ended. Throws `NoAnswer` when the time is over. */
async function waitForEnd(
  { ask, io, say, timeout_ms }: Waiting,
  declared: CertificationAnswer,
): Promise<CertificationAnswer> {
  const { certification_id, policy } = declared
  const end_ms = io.now_ms() + timeout_ms
  let [last, failures] = [declared, 0]
  say(`certification ${certification_id}: policy ${policy.id} ${policy.version}`)
  for (let said = ''; last.result === 'pending'; ) {
    const state = describeState(last, io.now_ms())
    if (state !== said) say(state)
    said = state
    if (io.now_ms() >= end_ms) {
      const more = 'Run the same command to continue, or give a longer --timeout'
      throw new NoAnswer(`no verdict within --timeout: the certification is ${last.state}. ${more}`)
    }
    await sleep(poll_ms, undefined, { signal: io.stop })
    try {
      const answer = await ask(`/release-certification/${certification_id}`)
      last = readAnswer(answer, certificationAnswer)
      failures = 0
    } catch (error) {
      failures += 1
      if (io.stop.aborted || !(error instanceof NoAnswer) || failures >= failures_max) throw error
      say(`waiting for the service: ${error.message}`)
    }
  }
  return last
}

function describeState({ state, window }: CertificationAnswer, now_ms: number): string {
  return Date.parse(window.to) > now_ms
    ? `${state} until ${window.to}, the end of the window`
    : state
}

/** Writes the files that the options name. Throws `NoAnswer` when a file cannot be written. */
async function writeReports(args: Arguments, ended: CertificationAnswer, ask: Ask): Promise<void> {
  await write(args.value('junit'), () => junitReport(ended))
  await write(args.value('markdown'), () => markdownReport(ended))
  await write(args.value('statement'), async () => {
    const statement = await ask(`/release-certification/${ended.certification_id}/statement`)
    return `${JSON.stringify(statement)}\n`
  })
}

async function write(path: string | undefined, content: () => string | Promise<string>) {
  if (path === undefined) return
  const text = await content()
  await writeFile(path, text).catch((error: Error) => {
    throw new NoAnswer(error.message)
  })
}

function pageOf(ended: CertificationAnswer): string {
  const { release, environment, result, policy, gates, attempt, max_attempts } = ended
  const rows = gates.map((gate) => [
    ...[gate.metric, gate.kind, gate.tier, measuredText(gate), limitText(gate), String(gate.n)],
    ...[gate.verdict, [gate.reason, gate.group].filter((text) => text !== null).join(' ')],
  ])
  const head = ['METRIC', 'KIND', 'TIER', 'MEASURED', 'LIMIT', 'SAMPLES', 'VERDICT', 'REASON']
  const why = obstaclesText(ended)
  return [
    ...(gates.length === 0
      ? []
      : [
          tableOf(
            head,
            rows.map((row) => row.map(printable)),
          ),
          '\n',
        ]),
    ...(why === '' ? [] : [`Not certified because of: ${printable(why)}\n`]),
    `policy: ${printable(`${policy.id} ${policy.version}`)} sha256:${policy.digest}\n`,
    `look: ${attempt ?? 0} of ${max_attempts}\n`,
    `${printable(`${release.name}@${release.version} ${environmentText(environment)}`)}: ${result}\n`,
  ].join('')
}

/** An eval file to upload. */
type EvalRunFile = { name: string; format: 'junit' | 'jsonl'; content: string }

const formats: ReadonlyMap<string, EvalRunFile['format']> = new Map([
  ['.xml', 'junit'],
  ['.jsonl', 'jsonl'],
  ['.ndjson', 'jsonl'],
])

/** Maximum size of an eval file, as the service accepts it. */
const bytes_max = 8 * 1_024 * 1_024

/** Reads an eval file. The ending of its name is its format. Throws `UsageError`. */
async function readEvalRunFile(path: string): Promise<EvalRunFile> {
  const format = formats.get(extname(path).toLowerCase())
  if (format === undefined) {
    const expected = `expected a name that ends in ${[...formats.keys()].join(', ')}`
    throw new UsageError(`--eval-run: got "${path}", ${expected}`)
  }
  const bytes = await readFile(path).catch((error: Error) => {
    throw new UsageError(`--eval-run: ${error.message}`)
  })
  if (bytes.length > bytes_max) {
    throw new UsageError(`${path}: got ${bytes.length} bytes, expected at most ${bytes_max}`)
  }
  if (!isUtf8(bytes)) throw new UsageError(`${path}: expected UTF-8. Encode the file as UTF-8`)
  return { name: basename(path), format, content: bytes.toString() }
}
