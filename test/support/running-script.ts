import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { childEnv } from './child-env.ts'

/** A program in a separate process. */
export type RunningScript = {
  /** Its output so far. */
  output(): string
  /** Sends SIGTERM and waits for its end. */
  stop(): Promise<void>
}

/** Runs a program of a checkout; it ends with this process. */
export function startScript(
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): RunningScript {
  const child = spawn(process.execPath, args, {
    ...{ cwd, env: childEnv(env), stdio: ['ignore', 'pipe', 'pipe'] },
  })
  const reap = () => child.kill('SIGKILL')
  process.once('exit', reap)
  const ended = once(child, 'close').then(() => process.off('exit', reap))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = `${output}${chunk}`.slice(-20_000)
    })
  }
  return {
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
