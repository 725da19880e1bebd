import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** One process of the service, as a user would start it. */
export type Service = {
  pid: number
  /** `http://127.0.0.1:<port>` of the role's listener; empty for a role without one. */
  base_url: string
  management_url: string
  /** Everything written so far to standard output and standard error. */
  output(): string
  /** SIGTERM, and the exit status once it has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** SIGKILL, and wait for the end. */
  kill(): Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const readyTimeout_ms = 60_000

/**
 * Starts a role in a process of its own and resolves when it says that it is ready. Ports are free
 * ones unless set; the environment holds nothing of this process's own LOOPTRACE_ variables.
 */
export async function startService(role: string, env: Record<string, string>): Promise<Service> {
  const child = spawnRole(role, {
    LOOPTRACE_HTTP_PORT: '0',
    LOOPTRACE_MANAGEMENT_PORT: '0',
    ...env,
  })
  const lines: Record<string, unknown>[] = []
  let output = ''
  const isReady = Promise.withResolvers<void>()
  const take = (text: Buffer) => {
    output += text
    for (const line of text.toString().split('\n')) {
      if (!line.startsWith('{')) continue
      const parsed = jsonOf(line)
      lines.push(parsed)
      if (parsed['msg'] === 'ready') isReady.resolve()
    }
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  const ended = once(child, 'exit')
  const timer = setTimeout(() => isReady.reject(new Error('not ready in time')), readyTimeout_ms)
  try {
    await Promise.race([isReady.promise, ended.then(() => Promise.reject(new Error('it ended')))])
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`role ${role} did not start:\n${output}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
  const portOf = (field: string) => lines.find((line) => field in line)?.[field]
  return {
    pid: child.pid ?? 0,
    base_url: portOf('http_port') === undefined ? '' : `http://127.0.0.1:${portOf('http_port')}`,
    management_url: `http://127.0.0.1:${portOf('management_port')}`,
    output: () => output,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      const [status] = await ended
      return status
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs a role that ends by itself and resolves with its exit status and output. */
export async function runRole(
  role: string,
  env: Record<string, string>,
): Promise<{ status: number | null; output: string }> {
  const child = spawnRole(role, env)
  let output = ''
  child.stdout?.on('data', (text: Buffer) => {
    output += text
  })
  child.stderr?.on('data', (text: Buffer) => {
    output += text
  })
  const [status] = await once(child, 'close')
  return { status, output }
}

function spawnRole(role: string, env: Record<string, string>): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(process.execPath, ['src/main.ts', ...role.split(' ')], {
    cwd: root,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function jsonOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}
