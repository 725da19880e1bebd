import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { main } from './bundle.ts'
import { childEnv } from './child-env.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs its arguments at a separate pseudo terminal, and passes on SIGTERM and the exit status. */
const atTerminal = `
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

/** A role that writes to a terminal. */
export type TerminalRole = {
  /** The terminal's output, with plain line ends. */
  output(): string
  /** SIGTERM, and the exit status. */
  stop(): Promise<number | null>
}

export function roleAtTerminal(role: string, env: Record<string, string>): TerminalRole {
  const { HOME = '' } = process.env
  const command = ['-c', atTerminal, process.execPath, main, role]
  const child: ChildProcess = spawn('python3', command, {
    cwd: root,
    env: childEnv({ HOME, TERM: 'xterm', ...env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const reap = () => child.kill('SIGTERM')
  process.once('exit', reap)
  const ended = once(child, 'close').then(([status]) => {
    process.off('exit', reap)
    return status
  })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  return {
    output: () => output.replaceAll('\r\n', '\n'),
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}
