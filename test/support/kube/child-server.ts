import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { atEndOfProcess } from './worker-end.ts'

const stop_timeout_ms = 10_000

/** A server as a child process, with the end of its standard error. */
export type ChildServer = { process: ChildProcess; log(): string }

/** Starts a server that ends with this process. */
export function startChildServer(binary: string, args: readonly string[]): ChildServer {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.once(
    'exit',
    atEndOfProcess(() => void child.kill('SIGKILL')),
  )
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log = `${log}${chunk}`.slice(-8_000)
  })
  return { process: child, log: () => log }
}

/** Stops it and waits for its end; SIGKILL after a time limit. */
export async function endChildServer(
  { process: child }: ChildServer,
  signal: NodeJS.Signals,
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const hard = setTimeout(() => child.kill('SIGKILL'), stop_timeout_ms)
  await exited
  clearTimeout(hard)
}
