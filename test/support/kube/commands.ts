import { spawn } from 'node:child_process'
import { join } from 'node:path'

export type CommandOptions = {
  /** Text for its standard input. */
  input?: string
  timeout_ms?: number
  cwd?: string
}

export type CommandResult = { status: number | null; stdout: string; stderr: string }

type Surroundings = CommandOptions & { home: string; env: Record<string, string> }

/** Runs a command to its end, with its own caches; resolves with any exit status. */
export function runCommand(
  path: string,
  args: readonly string[],
  { input = '', timeout_ms = 60_000, cwd, home, env }: Surroundings,
): Promise<CommandResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>()
  const child = spawn(path, args, {
    ...(cwd !== undefined && { cwd }),
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      KUBECACHEDIR: join(home, 'kubectl-cache'),
      HELM_CACHE_HOME: join(home, 'helm/cache'),
      HELM_CONFIG_HOME: join(home, 'helm/config'),
      HELM_DATA_HOME: join(home, 'helm/data'),
      ...env,
    },
    timeout: timeout_ms,
  })
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      written[name] += chunk
    })
  }
  child.on('error', reject)
  child.on('close', (status) => resolve({ status, ...written }))
  // The command may end without reading all of its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return promise
}
