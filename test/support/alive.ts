import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Whether a process runs; one that ended and that nobody has reaped yet does not. */
export async function isAlive(pid: number | undefined): Promise<boolean> {
  if (pid === undefined) return false
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(pid)])
    return !stdout.trim().startsWith('Z')
  } catch {
    return false
  }
}
