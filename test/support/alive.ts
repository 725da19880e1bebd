import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'

/** Reports whether a process runs. A process that ended but was not reaped does not run. */
export async function isAlive(pid: number | undefined): Promise<boolean> {
  return (await commandLine(pid ?? 0)) !== ''
}

/**
 * The command line of a process, which every user of the machine can read; '' if there is no such
 * process.
 */
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
