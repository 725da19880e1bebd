import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** A child process whose standard output the test reads. */
export type KillableProcess = ChildProcessByStdio<null, Readable, null>

/** Processes of one program of `test/support`, which a test kills at any moment. */
export type KillableProcesses = {
  /** Starts the program with one argument. */
  start(argument: string): KillableProcess
  /** Sends SIGKILL and waits for the end. */
  kill(child: KillableProcess): Promise<void>
  /** Kills the processes that run: a test that failed left them, and they would take later work. */
  killAll(): Promise<void>
}

/** Opens the processes of a program, given by its file URL. */
export function killableProcesses(url: URL): KillableProcesses {
  const program = fileURLToPath(url)
  const running = new Set<KillableProcess>()
  const kill = async (child: KillableProcess) => {
    const ended = once(child, 'exit')
    running.delete(child)
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await ended
  }
  return {
    start(argument) {
      const child = spawn(process.execPath, [program, argument], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      running.add(child)
      return child
    },
    kill,
    killAll: async () => {
      await Promise.all([...running].map(kill))
    },
  }
}
