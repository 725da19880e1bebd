import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

export type Process = { pid: number; parent: number; command: string }

/** All processes of this machine. Small Linux images have no `ps`, and macOS has no /proc. */
export async function processes(): Promise<Process[]> {
  if (process.platform !== 'linux') return processesOfPs()
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(pids.map((pid) => processOf(pid).catch(() => undefined)))
  return found.filter((one) => one !== undefined)
}

/** A process and all its descendants. */
export async function descendants(pid: number): Promise<number[]> {
  const all = await processes()
  const found = [pid]
  for (const known of found) {
    found.push(...all.filter(({ parent }) => parent === known).map((child) => child.pid))
  }
  return found
}

/** Zombies count as ended. Rejects if the process ended in between. */
async function processOf(pid: string): Promise<Process | undefined> {
  const [status, command] = await Promise.all(
    ['status', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
  )
  const parent = /^PPid:\s*(\d+)/m.exec(status ?? '')?.[1]
  if (parent === undefined || /^State:\s*Z/m.test(status ?? '')) return undefined
  return {
    pid: Number(pid),
    parent: Number(parent),
    command: (command ?? '').replaceAll('\0', ' '),
  }
}

async function processesOfPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,args='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}
