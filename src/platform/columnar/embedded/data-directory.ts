import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { sleep } from '../../../kernel/time.ts'
import { makeFolder } from '../../folders/index.ts'

/** Paths and password of an embedded server's data. */
export type DataDirectory = {
  /** Data folder of ClickHouse. */
  engine: string
  /** Folder for the bodies of running inserts. */
  inserts: string
  pid_file: string
  password: string
}

/** The only user of an embedded server. */
export const embeddedUsername = 'looptrace'

/** Creates the folders, and on the first call a random password, readable only by this account. */
export async function prepareDataDirectory(directory: string): Promise<DataDirectory> {
  const engine = join(directory, 'engine')
  const inserts = join(directory, 'inserts')
  await makeFolder(engine, { mode: 0o700 })
  await makeFolder(inserts, { mode: 0o700 })
  const password = await readOrCreatePassword(join(directory, 'password'))
  return { engine, inserts, pid_file: join(directory, 'server.pid'), password }
}

/** Removes insert bodies of a killed server. Only the process that owns the folder may call it. */
export async function clearInserts({ inserts }: DataDirectory): Promise<void> {
  await rm(inserts, { recursive: true, force: true })
  await mkdir(inserts, { mode: 0o700 })
}

async function readOrCreatePassword(path: string): Promise<string> {
  const password = randomBytes(24).toString('base64url')
  try {
    await writeDurably(path, password)
    return password
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const kept = (await readFile(path, 'utf8')).trim()
  if (kept !== '') return kept
  await writeFile(path, password, { mode: 0o600 })
  return password
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Time for an orphan to exit by itself before SIGKILL. An orphan exits when its parent dies. */
const patience_ms = 3_000
const poll_ms = 25

/** Another live service uses the data folder: its server process is not an orphan. */
class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse'
}

const holderSchema = z.object({
  pid: z.int().positive(),
  /** The process that the server exits with; null for a server without a parent. */
  parent_pid: z.int().positive().nullable(),
})
type Holder = z.infer<typeof holderSchema>

/** Records the process that serves the folder. Only the holder of the engine's lock may call it. */
export async function writeHolder(pidFile: string, holder: Holder): Promise<void> {
  await writeFile(pidFile, JSON.stringify(holder), { mode: 0o600 })
}

/**
 * Ensures that no process serves the folder: waits for an older server whose parent died, then
 * kills it. `marks` are words of its command line, so that a reused pid is not killed. Rejects with
 * DirectoryInUse when the parent of the older server lives.
 */
export async function takeOver(pidFile: string, marks: readonly string[]): Promise<void> {
  const holder = await readHolder(pidFile)
  if (!holder || holder.pid === process.pid) return
  if (!(await isOurs(holder.pid, marks))) return untilLocksReleased(holder.pid)
  if (holder.parent_pid === null || (await parentOf(holder.pid)) === holder.parent_pid) {
    throw new DirectoryInUse(`process ${holder.pid} serves this data folder: stop it first`)
  }
  if (await waitForEnd(holder.pid, marks)) return
  process.kill(holder.pid, 'SIGKILL')
  if (!(await waitForEnd(holder.pid, marks))) {
    throw new DirectoryInUse(`process ${holder.pid} serves this data folder and does not exit`)
  }
}

async function readHolder(pidFile: string): Promise<Holder | undefined> {
  try {
    return holderSchema.parse(JSON.parse(await readFile(pidFile, 'utf8')))
  } catch {
    return undefined
  }
}

async function isOurs(pid: number, marks: readonly string[]): Promise<boolean> {
  const command = (await readProcess(pid, 'command=')) ?? ''
  return marks.every((mark) => command.includes(mark))
}

async function parentOf(pid: number): Promise<number | undefined> {
  const parent = await readProcess(pid, 'ppid=')
  return parent === undefined ? undefined : Number(parent)
}

/** Reads a field of a process from /proc on Linux, otherwise from `ps`; undefined without it. */
async function readProcess(
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

/**
 * Waits for the end. A zombie has no command line and a reused pid another one: both have ended.
 */
async function waitForEnd(pid: number, marks: readonly string[]): Promise<boolean> {
  const deadline_ms = Date.now() + patience_ms
  while (await isOurs(pid, marks)) {
    if (Date.now() >= deadline_ms) return false
    await sleep(poll_ms)
  }
  await untilLocksReleased(pid)
  return true
}

/** Waits for the locks of an exiting process, which loses its command line before its locks. */
async function untilLocksReleased(pid: number): Promise<void> {
  const deadline_ms = Date.now() + patience_ms
  while (Date.now() < deadline_ms && (await isEnding(pid))) await sleep(poll_ms)
}

async function isEnding(pid: number): Promise<boolean> {
  if ((await readProcess(pid, 'command=')) !== '') return false
  return !/^[ZX]/.test((await readProcess(pid, 'state=')) ?? 'X')
}
