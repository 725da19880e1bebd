import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'

/** Whether a process runs; one that ended and that nobody has reaped yet does not. */
export async function isAlive(pid: number | undefined): Promise<boolean> {
  return (await commandLine(pid ?? 0)) !== ''
}

/** What everybody on the machine can read of a process: its command line; '' when it is gone. */
export async function commandLine(pid: number): Promise<string> {
  try {
    // A minimal Debian has no ps.
    if (process.platform === 'linux') return await readFile(`/proc/${pid}/cmdline`, 'utf8')
    const shown = ['-ww', '-o', 'stat=,command=', '-p', String(pid)]
    const line = execFileSync('ps', shown, { encoding: 'utf8' }).trim()
    return line.startsWith('Z') ? '' : line
  } catch {
    return ''
  }
}
