import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { TargetUsage } from './target-side.ts'

/** A target in a separate process, on a separate processor. */
export type TargetProcess = {
  name: string
  pid: number
  port: number
  usage(): Promise<TargetUsage>
  stop(): Promise<void>
}

/** Starts `bench/targets/<name>.ts` pinned to processor `cpu`; `node_flags` for profiles. */
export async function startTarget(
  name: string,
  options: { upstream: string; cpu: number; node_flags?: readonly string[] },
): Promise<TargetProcess> {
  const file = fileURLToPath(new URL(`./targets/${name}.ts`, import.meta.url))
  const { upstream, cpu, node_flags = [] } = options
  const child = spawn(
    'taskset',
    ['-c', String(cpu), process.execPath, ...node_flags, file, upstream],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  const { port } = await message<{ port: number }>(child)
  return {
    name,
    pid: child.pid ?? 0,
    port,
    usage: () => {
      const answer = message<TargetUsage>(child)
      child.send('usage')
      return answer
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = await once(child, 'message')
  return value as T
}
