import { z } from 'zod'
import {
  adviceFor,
  baseUrlOf,
  type Client,
  clients,
  linesOf,
} from '../../capabilities/onboarding/clients/index.ts'
import { printable } from '../../kernel/printable.ts'
import { sleep } from '../../kernel/time.ts'
import { apiSettings, askApi, proxySettings } from '../ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'
import { didYouMean } from '../did-you-mean.ts'
import { examineConnection } from '../doctor.ts'
import { render } from '../output.ts'
import { tableOf } from '../terminal/table.ts'

/**
 * Prints the lines for a client, or the list of clients. With `--check` it then waits for a call; exit
 * status 1 unless one arrives and is answered.
 */
export async function connect(args: Arguments, io: CommandIo): Promise<number> {
  const at = placeOf(args)
  const wait_s = waitOf(args)
  const [name] = args.words
  if (name !== undefined) {
    const client = clientNamed(name)
    const shown = shownClient(client, at)
    if (args.flag('check')) return checkClient(client, shown, { args, io, wait_s })
    io.out(render(args, shown, () => clientPage(shown, io)))
    return exitStatus.ok
  }
  if (args.flag('check')) throw new UsageError('--check needs a client')
  const list = clients.map((client) => shownClient(client, at))
  io.out(render(args, { clients: list }, listPage))
  return exitStatus.ok
}

/** Returns the URL of the lines, and the key if they hold it. */
function placeOf(args: Arguments): Place {
  const { proxy_url, api_key } = proxySettings()
  const url = proxy_url.replace(/\/+$/, '')
  if (!args.flag('show-key')) return { url }
  if (api_key === undefined) {
    throw new UsageError('LOOPTRACE_API_KEY is not set: --show-key prints it')
  }
  return { url, key: api_key }
}

function clientNamed(name: string): Client {
  const client = clients.find((one) => one.name === name)
  if (client !== undefined) return client
  const known = clients.map((one) => one.name)
  throw new UsageError(
    `got the client "${name}", expected one of ${known.join(', ')}${didYouMean(name, known)}`,
  )
}

type Checking = { args: Arguments; io: CommandIo; wait_s: number }

async function checkClient(
  client: Client,
  shown: Shown,
  { args, io, wait_s }: Checking,
): Promise<number> {
  const isTable = (args.value('output') ?? 'table') === 'table'
  if (isTable) io.out(clientPage(shown, io))
  io.err(`Waiting up to ${wait_s} s for a call. Start your client now.\n`)
  const arrival = await awaitCall(client, { wait_s, io })
  io.out(render(args, { ...shown, check: arrival }, () => arrivalPage(arrival, io)))
  return arrival.state === 'answered' ? exitStatus.ok : exitStatus.findings
}

type Place = { url: string; key?: string }

const wait_s_max = 3_600

function waitOf(args: Arguments): number {
  const text = args.value('wait') ?? '120'
  const seconds = Number(text)
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= wait_s_max) return seconds
  throw new UsageError(`--wait: got "${text}", expected 1 to ${wait_s_max} seconds`)
}

type Shown = Pick<Client, 'name' | 'title' | 'calls' | 'language' | 'place'> & {
  base_url: string | null
  lines: string[]
}

function shownClient(client: Client, at: Place): Shown {
  const { name, title, calls, language, place } = client
  const base_url = baseUrlOf(client, at)
  return { name, title, calls, language, place, base_url, lines: linesOf(client, at) }
}

function listPage(): string {
  const rows = clients.map(({ name, title, calls }) => [name, title, calls])
  return `${tableOf(['CLIENT', 'NAME', 'DEFAULT CALL'], rows)}\nlooptrace connect <client> prints its lines.\n`
}

function clientPage({ title, calls, place, lines }: Shown, io: CommandIo): string {
  const head = `${io.styled('bold', title)}: ${calls}. Put this into ${place}:`
  return `${[head, '', ...lines.map((line) => (line === '' ? '' : `  ${line}`)), ''].join('\n')}\n`
}

function arrivalPage(arrival: Arrival, io: CommandIo): string {
  const { state, detail, advice } = arrival
  const style = state === 'answered' ? 'green' : 'red'
  return `${[io.styled(style, detail), ...advice.map((line) => `- ${line}`)].join('\n')}\n`
}

/** The result of waiting for a call. */
type Arrival = {
  /** `unconnected`: the service or the key is at fault, so nothing was waited for. */
  state: 'answered' | 'refused' | 'none' | 'unconnected'
  /** The result in a sentence. */
  detail: string
  /** Hints what to look at, in order. */
  advice: string[]
  task_id: string | null
}

const poll_ms = 1_000

/**
 * Waits for a model call of the key's project that begins from now on, by the clock of the service.
 * Throws `NoAnswer` if the API stops answering.
 */
async function awaitCall(
  client: Client,
  { wait_s, io }: { wait_s: number; io: CommandIo },
): Promise<Arrival> {
  const settings = apiSettings()
  const { faults, checked_at } = await examineConnection(settings, io)
  if (checked_at === undefined) {
    const detail = 'The service cannot be asked for calls.'
    return { state: 'unconnected', detail, advice: faults, task_id: null }
  }
  const from_ms = Date.parse(checked_at)
  const starts: Starts = new Map()
  for (const end_ms = io.now_ms() + wait_s * 1_000; ; ) {
    const found = await findCall({ from_ms, starts }, settings, io)
    if (found !== undefined) return found
    if (io.now_ms() >= end_ms || io.stop.aborted) break
    await sleep(poll_ms)
  }
  const detail = `No call arrived in ${wait_s} s.`
  return { state: 'none', detail, advice: [...faults, ...adviceFor(client)], task_id: null }
}

type Settings = ReturnType<typeof apiSettings>

const tasksSchema = z.object({
  tasks: z.array(z.object({ task_id: z.string(), calls: z.number() })),
})

const callSchema = z.object({
  role: z.literal('model_call'),
  time: z.string(),
  status: z.string(),
  status_code: z.number(),
  error: z.object({ type: z.string(), message: z.string() }).nullable(),
  provider: z.string(),
  model: z.string(),
  tokens: z.object({ total: z.number() }),
})
type Call = z.output<typeof callSchema>

const timelineSchema = z.object({
  entries: z.array(z.unknown()),
  next_cursor: z.string().nullable(),
})

/** For each task, the cursor behind the calls that began before the wait: the next look begins there. */
type Starts = Map<string, string>

type Wanted = { from_ms: number; starts: Starts }

/** Tasks with activity that are listed: others of the project may be busy meanwhile. */
const listed_tasks_max = 100
/** Tasks with calls whose timelines are read. */
const tasks_max = 10
/** Calls of a page, and pages of a task that one look reads; the next look goes on behind them. */
const page_size = 1_000
const pages_max = 20

/** Finds the first call that began from an instant on; one that was answered is preferred. */
async function findCall(
  wanted: Wanted,
  settings: Settings,
  io: CommandIo,
): Promise<Arrival | undefined> {
  const from = new Date(wanted.from_ms).toISOString()
  const asked = new URLSearchParams({ from, limit: String(listed_tasks_max) })
  const { tasks } = await read(tasksSchema, `/api/v1/tasks?${asked}`, { settings, io })
  let refused: Arrival | undefined
  for (const { task_id } of tasks.filter(({ calls }) => calls > 0).slice(0, tasks_max)) {
    const found = await findCallOf(task_id, wanted, { settings, io })
    if (found?.state === 'answered') return found
    refused ??= found
  }
  return refused
}

/** Finds such a call of one task. Its calls are in the order in which they began. */
async function findCallOf(
  task_id: string,
  { from_ms, starts }: Wanted,
  reading: Reading,
): Promise<Arrival | undefined> {
  const path = `/api/v1/tasks/${encodeURIComponent(task_id)}/timeline`
  const asked = new URLSearchParams({ role: 'model_call', limit: String(page_size) })
  let cursor: string | null = starts.get(task_id) ?? null
  let refused: Arrival | undefined
  for (let page = 0; page < pages_max; page++) {
    if (cursor !== null) asked.set('cursor', cursor)
    const { entries, next_cursor } = await read(timelineSchema, `${path}?${asked}`, reading)
    const calls = entries.flatMap((entry) => callSchema.safeParse(entry).data ?? [])
    const arrived = calls
      .filter(({ time }) => Date.parse(time) >= from_ms)
      .map((call) => arrivalOf(task_id, call))
    const answered = arrived.find(({ state }) => state === 'answered')
    if (answered !== undefined) return answered
    refused ??= arrived[0]
    if (next_cursor === null) break
    if (refused === undefined) starts.set(task_id, next_cursor)
    cursor = next_cursor
  }
  return refused
}

type Reading = { settings: Settings; io: CommandIo }

async function read<Shape>(
  schema: z.ZodType<Shape>,
  path: string,
  { settings: { url, api_key }, io }: Reading,
): Promise<Shape> {
  const answer = await askApi(new URL(path, url), { api_key, stop: io.stop })
  const found = schema.safeParse(answer)
  if (found.success) return found.data
  throw new NoAnswer(`${url}: the answer is not a list of this version: check LOOPTRACE_URL`)
}

function arrivalOf(task_id: string, call: Call): Arrival {
  const { status, status_code, error, provider, model, tokens } = call
  const to = printable([provider, model].filter((part) => part !== '').join(' '))
  if (status !== 'error') {
    const detail = `A call to ${to} arrived, with ${tokens.total} tokens. It is in the task ${printable(task_id)}.`
    return { state: 'answered', detail, advice: [], task_id }
  }
  const said = printable([error?.type, error?.message].filter(Boolean).join(': '))
  const detail =
    `A call to ${to} arrived, but it failed: ${status_code || 'no status'} ${said}`.trimEnd()
  return { state: 'refused', detail, advice: reasonsFor(status_code), task_id }
}

/** Says what an error status of the provider means for the one who set the client up. */
function reasonsFor(status_code: number): string[] {
  if (status_code === 401 || status_code === 403) {
    return [
      'Looptrace took your project key; the provider refused its own. Set the provider’s key in the client as before, such as OPENAI_API_KEY.',
    ]
  }
  if (status_code === 404) {
    return ['The provider knows no such model or path: check the name of the model.']
  }
  if (status_code === 429) return ['The provider limits your calls or has no credit left.']
  return ['The client is connected. The error is in the task.']
}
