import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const stop_timeout_ms = 10_000

/** A server as a child process, and the end of what it wrote to standard error. */
export type ChildServer = { process: ChildProcess; log(): string }

/** Starts a server that does not outlive this process. */
export function startChildServer(binary: string, args: readonly string[]): ChildServer {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const reap = () => child.kill('SIGKILL')
  process.once('exit', reap)
  child.once('exit', () => process.off('exit', reap))
  let log = ''
  child.stderr?.on('data', (chunk) => {
    log = `${log}${chunk}`.slice(-8_000)
  })
  return { process: child, log: () => log }
}

/** Ends it, and waits until it has ended; SIGKILL when it takes too long. */
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
