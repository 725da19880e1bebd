import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { sleep } from '../../src/kernel/time.ts'
import { main as bundledMain } from './bundle.ts'
import { childEnv } from './child-env.ts'

/** One process of the service, as a user would start it. */
export type Service = {
  pid: number
  /** `http://127.0.0.1:<port>` of the role's listener; empty for a role without one. */
  base_url: string
  management_url: string
  /** `127.0.0.1:<port>` of OTLP over gRPC; empty for a role without it. */
  otlp_grpc_address: string
  /** Standard output and standard error so far. */
  output(): string
  /** The exit status after its end; null if it was killed. */
  ended: Promise<number | null>
  /** Sends SIGTERM; the exit status after its end, null if it had to be killed. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const readyTimeoutMs = 180_000
/** Longer than any role's grace period in a test; a process that still runs then is killed. */
const stopTimeoutMs = 45_000

/**
 * Starts a role in a separate process and resolves when it reports that it is ready. Ports are free
 * ones by default; the environment has none of this process's LOOPTRACE_ variables. It ends with
 * this process.
 */
export async function startService(
  role: string,
  env: Record<string, string>,
  options: SpawnOptions = {},
): Promise<Service> {
  const freePorts = { LOOPTRACE_HTTP_PORT: '0', LOOPTRACE_MANAGEMENT_PORT: '0' }
  const child = spawnRole(role, { ...freePorts, ...env }, options)
  const output = outputOf(child)
  // The first ones: the sample run of role `all` later listens on a separate port.
  const ports = new Map<string, unknown>()
  const isReady = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      const { msg, ...fields } = jsonOf(line)
      for (const name of ['http_port', 'management_port', 'otlp_grpc_port']) {
        if (name in fields && !ports.has(name)) ports.set(name, fields[name])
      }
      if (msg === 'ready') isReady.resolve()
    })
  }
  const ended = endOf(child)
  const timer = setTimeout(() => isReady.reject(new Error('not ready in time')), readyTimeoutMs)
  try {
    await Promise.race([isReady.promise, ended.then(() => Promise.reject(new Error('it ended')))])
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`role ${role} did not start:\n${output()}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
  const urlOf = (name: string) => (ports.has(name) ? `http://127.0.0.1:${ports.get(name)}` : '')
  return {
    pid: child.pid ?? 0,
    base_url: urlOf('http_port'),
    management_url: urlOf('management_port'),
    otlp_grpc_address: urlOf('otlp_grpc_port').replace('http://', ''),
    output,
    ended,
    stop: (signal = 'SIGTERM') => end(child, ended, signal),
    kill: async () => {
      await end(child, ended, 'SIGKILL')
    },
  }
}

/** The result of a role that ended by itself. */
export type RoleEnd = {
  status: number | null
  /** Standard output and standard error. */
  output: string
  stderr: string
}

/** Runs a role that ends by itself. */
export async function runRole(
  role: string,
  env: Record<string, string>,
  options: SpawnOptions = {},
): Promise<RoleEnd> {
  const child = spawnRole(role, env, options)
  const output = outputOf(child)
  let stderr = ''
  child.stderr?.on('data', (text: string) => {
    stderr += text
  })
  const [status] = await once(child, 'close')
  return { status, output: output(), stderr }
}

/** A role that may still be starting. */
export type StartingRole = Pick<Service, 'output' | 'ended'> & {
  pid: number
  signal(name: NodeJS.Signals): void
}

/** Spawns a role and does not wait until it is ready. */
export function beginRole(role: string, env: Record<string, string>): StartingRole {
  const child = spawnRole(role, env)
  return {
    pid: child.pid ?? 0,
    output: outputOf(child),
    ended: endOf(child),
    signal: (name) => void child.kill(name),
  }
}

type SpawnOptions = {
  /** Makes it the leader of a process group, which gets signals as a whole, as at a terminal. */
  detached?: boolean
  /** A program with arguments that runs the role, for example with fewer rights. */
  prefix?: readonly string[]
  /** The file that Node runs. Default: the `main.js` of a bundle, as in the images. */
  main?: string
}

function spawnRole(
  role: string,
  env: Record<string, string>,
  { detached = false, prefix = [], main = bundledMain }: SpawnOptions = {},
): ChildProcess {
  const { HOME = '' } = process.env
  const command = [...prefix, process.execPath, main, ...role.split(' ')]
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    cwd: root,
    env: childEnv({ HOME, LOOPTRACE_OTLP_GRPC_PORT: '0', ...env }),
    detached,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => child.kill('SIGTERM')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return child
}

function outputOf(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return () => output
}

/** A process that it left behind may hold its output open; the test does not wait for that. */
const outputTimeoutMs = 1000

async function endOf(child: ChildProcess): Promise<number | null> {
  const closed = once(child, 'close')
  const [status] = await once(child, 'exit')
  await Promise.race([closed, sleep(outputTimeoutMs)])
  return status
}

async function end(
  child: ChildProcess,
  ended: Promise<number | null>,
  signal: NodeJS.Signals,
): Promise<number | null> {
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  const status = await ended
  clearTimeout(timer)
  return status
}

function jsonOf(line: string): Record<string, unknown> {
  if (!line.startsWith('{')) return {}
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}
