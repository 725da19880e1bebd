import { z } from 'zod'
import { printable } from '../kernel/printable.ts'
import { apiSettings } from './ask-api.ts'
import { type Arguments, type CommandIo, exitStatus } from './command.ts'
import { render } from './output.ts'

/**
 * Checks the connection to the service, then what the service reports about the project, as one
 * list. Exit status 1 when a required check is not done, or any check with `--strict`.
 */
export async function doctor(args: Arguments, io: CommandIo): Promise<number> {
  const settings = apiSettings()
  const { checks, project_id } = await examine(settings, io)
  const isFault = ({ state, required }: Check) =>
    state !== 'done' && (required || args.flag('strict'))
  const ready = !checks.some(isFault)
  io.out(render(args, { ready, project_id, checks }, () => pageOf(checks, io)))
  return ready ? exitStatus.ok : exitStatus.findings
}

const command = z.object({ tool: z.string(), text: z.string() })

const checkSchema = z.object({
  id: z.string(),
  title: z.string(),
  state: z.enum(['done', 'missing', 'unknown']),
  required: z.boolean(),
  since: z.string().nullable(),
  detail: z.string(),
  commands: z.array(command),
})
type Check = z.output<typeof checkSchema>

/** The parts of a report that are used; another version of the API may have more. */
const reportSchema = z.object({
  project_id: z.string(),
  checked_at: z.string(),
  checks: z.array(checkSchema),
  caller: z.object({
    scopes: z.array(z.string()).nullable(),
    expires_at: z.string().nullable(),
  }),
})
type Report = z.output<typeof reportSchema>

/**
 * Checks that API, key and proxy answer. `faults` says what does not; `checked_at` is the time of the
 * service, undefined if the API gave no report.
 */
export async function examineConnection(
  settings: Settings,
  io: CommandIo,
): Promise<{ faults: string[]; checked_at: string | undefined }> {
  const [answer, proxy] = await Promise.all([askReport(settings, io), checkProxy(settings, io)])
  const checks = 'fault' in answer ? answer.fault : [checkScopes(answer.report, io.now_ms())]
  const faults = [...checks, proxy].filter(({ state }) => state !== 'done')
  return {
    faults: faults.map(({ detail }) => detail),
    checked_at: 'report' in answer ? answer.report.checked_at : undefined,
  }
}

type Settings = ReturnType<typeof apiSettings>

async function examine(
  settings: Settings,
  io: CommandIo,
): Promise<{ checks: Check[]; project_id: string | null }> {
  const sent_ms = io.now_ms()
  const [answer, proxy] = await Promise.all([askReport(settings, io), checkProxy(settings, io)])
  const middle_ms = (sent_ms + io.now_ms()) / 2
  if ('fault' in answer) return { checks: [...answer.fault, proxy], project_id: null }
  const { report } = answer
  const connection = [
    done('api_answers', 'The API answers', `${settings.url} answers.`),
    done('key_accepted', 'The key is accepted', `It is a key of project ${report.project_id}.`),
    checkScopes(report, io.now_ms()),
    checkClock(Date.parse(report.checked_at) - middle_ms),
    proxy,
  ]
  return { checks: [...connection, ...report.checks], project_id: report.project_id }
}

const answer_ms_max = 15_000
const answer_chars_max = 1_000_000

type Answered = { status: number; text: string } | { unreachable: string }

async function ask(url: string, headers: Record<string, string>, io: CommandIo): Promise<Answered> {
  const signal = AbortSignal.any([io.stop, AbortSignal.timeout(answer_ms_max)])
  try {
    const answer = await fetch(url, { headers, signal, redirect: 'manual' })
    return { status: answer.status, text: (await answer.text()).slice(0, answer_chars_max) }
  } catch (error) {
    const { message, cause } = error as Error
    return { unreachable: cause instanceof Error ? cause.message : message }
  }
}

/** Asks for the report; without an answer, returns the checks that say why. */
async function askReport(
  { url, api_key }: Settings,
  io: CommandIo,
): Promise<{ report: Report } | { fault: Check[] }> {
  const asked = new URL('/api/v1/onboarding/report', url).href
  const answer = await ask(asked, { 'x-api-key': api_key }, io)
  const answers = done('api_answers', 'The API answers', `${url} answers.`)
  if ('unreachable' in answer) {
    const detail = `${url}: ${answer.unreachable}. Set LOOPTRACE_URL to the URL of the API, and check that it runs.`
    return { fault: [missing('api_answers', 'The API answers', detail)] }
  }
  const { status, text } = answer
  if (status === 401) {
    const detail = 'The API does not know the key. Set LOOPTRACE_API_KEY to a live project key.'
    return { fault: [answers, missing('key_accepted', 'The key is accepted', detail)] }
  }
  if (status === 403) {
    const detail =
      'The key lacks the scope tasks:read. Use a key with it: project keys have it by default.'
    return { fault: [answers, missing('key_scopes', 'The scopes of the key', detail)] }
  }
  const read = reportSchema.safeParse(parseJson(text))
  if (status === 200 && read.success) return { report: read.data }
  const detail = `${asked} answers with status ${status}, expected a report. Set LOOPTRACE_URL to the URL of an API of this version.`
  return { fault: [missing('api_answers', 'The API answers', detail)] }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The status with which the proxy refuses a method, before it reads any key. */
const methodRefused = 405

/** Checks that the proxy answers. Sends no call, so that none is recorded. */
async function checkProxy({ proxy_url }: Settings, io: CommandIo): Promise<Check> {
  const asked = new URL('/v1/chat/completions', proxy_url).href
  const answer = await ask(asked, {}, io)
  const title = 'The proxy answers'
  if ('status' in answer && answer.status === methodRefused) {
    return done('proxy_answers', title, `${proxy_url} accepts completions.`)
  }
  const found = 'status' in answer ? `answers with status ${answer.status}` : answer.unreachable
  const detail = `${asked}: ${found}. Set LOOPTRACE_PROXY_URL to the URL of the proxy, and check that it runs.`
  return missing('proxy_answers', title, detail)
}

/** Scopes without which an agent cannot be set up. */
const neededScopes = ['proxy:write', 'ingest:write', 'tasks:read', 'tasks:write']
const expiry_ms_min = 7 * 86_400_000

function checkScopes({ caller: { scopes, expires_at } }: Report, now_ms: number): Check {
  const title = 'The scopes of the key'
  const lacking = neededScopes.filter((scope) => scopes !== null && !scopes.includes(scope))
  if (lacking.length > 0) {
    const detail = `The key lacks ${lacking.join(', ')}. Use one with the default scopes.`
    return missing('key_scopes', title, detail)
  }
  if (expires_at !== null && Date.parse(expires_at) - now_ms < expiry_ms_min) {
    return missing('key_scopes', title, `The key expires at ${expires_at}. Rotate it.`)
  }
  return done('key_scopes', title, 'The key has what an agent needs.')
}

/** A larger difference puts calls and spans into wrong minutes. */
const skew_ms_max = 120_000

function checkClock(skew_ms: number): Check {
  const title = 'The clocks agree'
  const seconds = Math.round(Math.abs(skew_ms) / 1_000)
  if (Math.abs(skew_ms) <= skew_ms_max) {
    return done('clock_skew', title, `They differ by ${seconds} s.`)
  }
  const side = skew_ms > 0 ? 'ahead of' : 'behind'
  const detail = `The clock of the service is ${seconds} s ${side} that of this machine. Spans sent from here get wrong times. Correct one of the clocks.`
  return missing('clock_skew', title, detail)
}

function done(id: string, title: string, detail: string): Check {
  return { id, title, state: 'done', required: true, since: null, detail, commands: [] }
}

function missing(id: string, title: string, detail: string): Check {
  return { id, title, state: 'missing', required: true, since: null, detail, commands: [] }
}

const marks = {
  done: { word: 'done   ', style: 'green' },
  missing: { word: 'missing', style: 'red' },
  unknown: { word: 'unknown', style: 'yellow' },
} as const

function pageOf(checks: readonly Check[], io: CommandIo): string {
  const left = checks.filter(({ state }) => state !== 'done')
  const required = left.filter((check) => check.required).length
  const end =
    left.length === 0
      ? 'Everything is done.'
      : `${left.length} of ${checks.length} checks are not done, ${required} of them required.`
  return [...checks.flatMap((check) => linesOf(check, io)), '', end]
    .map((line) => `${line}\n`)
    .join('')
}

function linesOf({ title, state, required, detail, commands }: Check, io: CommandIo): string[] {
  const isWarning = state === 'missing' && !required
  const { word } = marks[state]
  const mark = io.styled(isWarning ? 'yellow' : marks[state].style, word)
  const note = isWarning ? ' (recommended)' : ''
  const head = `${mark}  ${printable(title)}${note}`
  if (state === 'done') return [head]
  const [first] = commands
  const text = first === undefined ? [] : first.text.split('\n')
  return [
    head,
    `         ${printable(detail)}`,
    ...text.map((line) => `           ${printable(line)}`),
  ]
}
