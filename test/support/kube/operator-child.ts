import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { OperatorProcessOptions } from './operator-process.ts'

/** An operator in a separate process. */
export type OperatorChild = AsyncDisposable & {
  pid: number
  /** Its writes so far, in order. */
  writes: string[]
  /** Its exit status (null after a signal), and the reason of a failure. */
  ended: Promise<{ status: number | null; failed: string | undefined }>
  output(): string
  /** SIGTERM by default. */
  signal(signal?: NodeJS.Signals): void
}

/** Starts an operator that ends with this process. */
export function startOperatorChild(options: OperatorProcessOptions): OperatorChild {
  const program = join(import.meta.dirname, 'operator-process.ts')
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const reap = () => child.kill('SIGKILL')
  process.once('exit', reap)
  child.once('exit', () => process.off('exit', reap))
  const writes: string[] = []
  let output = ''
  let failed: string | undefined
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      output = `${output}${line}\n`.slice(-20_000)
      const message = jsonOf(line)
      if (typeof message['what'] === 'string') writes.push(message['what'])
      if (typeof message['failed'] === 'string') failed = message['failed']
    })
  }
  const ended = once(child, 'close').then(([status]) => ({ status, failed }))
  return {
    pid: child.pid ?? 0,
    writes,
    ended,
    output: () => output,
    signal: (signal = 'SIGTERM') => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      // A process stopped by SIGSTOP ignores softer signals.
      child.kill('SIGKILL')
      await ended
    },
  }
}

function jsonOf(line: string): Record<string, unknown> {
  try {
    return line.startsWith('{') ? JSON.parse(line) : {}
  } catch {
    return {}
  }
}
