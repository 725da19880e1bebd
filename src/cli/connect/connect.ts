import type { Client } from '../../capabilities/onboarding/clients/client.ts'
import { baseUrlOf, clients, linesOf } from '../../capabilities/onboarding/clients/clients.ts'
import { proxySettings } from '../ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { didYouMean } from '../did-you-mean.ts'
import { render } from '../output.ts'
import { tableOf } from '../terminal/table.ts'
import { type Arrival, awaitCall } from './await-call.ts'

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
