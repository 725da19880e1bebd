import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { sleep } from '../../../kernel/time.ts'

/** How long an orphan gets to end by itself, as it does when its parent dies, before SIGKILL. */
const patience_ms = 3_000
const poll_ms = 25

/** The data directory is served by a process whose parent lives: it is no orphan of ours. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse'
}

const holderSchema = z.object({
  pid: z.int().positive(),
  /** Whom the server ends with; null for one that was started on its own. */
  parent_pid: z.int().positive().nullable(),
})
type Holder = z.infer<typeof holderSchema>

/** Writes down who serves the directory now. Only who holds the engine's lock may call it. */
export async function writeHolder(pidFile: string, holder: Holder): Promise<void> {
  await writeFile(pidFile, JSON.stringify(holder), { mode: 0o600 })
}

/**
 * Makes sure that nobody serves the directory: an older server whose parent died is waited for,
 * then ended. `marks` are words its command line must have, so that a recycled pid is left alone.
 * Rejects with DirectoryInUse when the older server's parent lives.
 */
export async function takeOver(pidFile: string, marks: readonly string[]): Promise<void> {
  const holder = await holderIn(pidFile)
  if (!holder || holder.pid === process.pid) return
  if (!(await isOurs(holder.pid, marks))) return untilLetGo(holder.pid)
  if (holder.parent_pid === null || (await parentOf(holder.pid)) === holder.parent_pid) {
    throw new DirectoryInUse(`process ${holder.pid} serves this data directory: stop it first`)
  }
  if (await ended(holder.pid, marks)) return
  process.kill(holder.pid, 'SIGKILL')
  if (!(await ended(holder.pid, marks))) {
    throw new DirectoryInUse(`process ${holder.pid} serves this data directory and does not end`)
  }
}

async function holderIn(pidFile: string): Promise<Holder | undefined> {
  try {
    return holderSchema.parse(JSON.parse(await readFile(pidFile, 'utf8')))
  } catch {
    return undefined
  }
}

async function isOurs(pid: number, marks: readonly string[]): Promise<boolean> {
  const command = (await ofProcess(pid, 'command=')) ?? ''
  return marks.every((mark) => command.includes(mark))
}

async function parentOf(pid: number): Promise<number | undefined> {
  const parent = await ofProcess(pid, 'ppid=')
  return parent === undefined ? undefined : Number(parent)
}

/** What Linux' /proc, or else `ps`, says about a process; undefined when there is none. */
async function ofProcess(
  pid: number,
  what: 'command=' | 'ppid=' | 'state=',
): Promise<string | undefined> {
  try {
    if (process.platform !== 'linux') {
      const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', what, '-p', String(pid)])
      return stdout.trim()
    }
    if (what === 'command=') {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8')
      return line.replaceAll('\0', ' ')
    }
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    return (what === 'ppid=' ? /^PPid:\s*(\d+)/m : /^State:\s*(\S)/m).exec(status)?.[1]
  } catch {
    return undefined
  }
}

/** A zombie has no command line, and a recycled pid another one: both count as ended. */
async function ended(pid: number, marks: readonly string[]): Promise<boolean> {
  const deadline_ms = Date.now() + patience_ms
  while (await isOurs(pid, marks)) {
    if (Date.now() >= deadline_ms) return false
    await sleep(poll_ms)
  }
  await untilLetGo(pid)
  return true
}

/** A process that ends loses its command line first, and its locks when its memory is given back. */
async function untilLetGo(pid: number): Promise<void> {
  const deadline_ms = Date.now() + patience_ms
  while (Date.now() < deadline_ms && (await isEnding(pid))) await sleep(poll_ms)
}

async function isEnding(pid: number): Promise<boolean> {
  if ((await ofProcess(pid, 'command=')) !== '') return false
  return !/^[ZX]/.test((await ofProcess(pid, 'state=')) ?? 'X')
}
