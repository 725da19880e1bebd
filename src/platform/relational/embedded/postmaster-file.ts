import { execFile } from 'node:child_process'
import { readFile, readlink, realpath, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { sleep } from '../../../kernel/time.ts'

/** What a server says about itself in `postmaster.pid` of its data folder. */
export type Postmaster = { pid: number; ready: boolean }

/** Reads `postmaster.pid`: line 1 is the pid, line 8 the state. Undefined when there is none. */
export async function readPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(`${cluster}/postmaster.pid`, 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  return { pid, ready: lines[7]?.trim() === 'ready' }
}

/**
 * Makes sure that no server runs on the data folder: stops the one that a killed service left
 * behind. When the noted pid belongs to something else by now (after a reboot, in a container),
 * a pid that can't exist takes its place, for PostgreSQL would take that process for a server.
 * The file itself stays: PostgreSQL finds in it the shared memory of backends that still end.
 * Answers the pid of the stopped server, if there was one.
 */
export async function clearDataFolder(cluster: string): Promise<number | undefined> {
  const postmaster = await readPostmaster(cluster)
  if (postmaster === undefined || !sendSignal(postmaster.pid, 0)) return undefined
  if (!(await isServerOn(cluster, postmaster.pid))) {
    const file = `${cluster}/postmaster.pid`
    const [, ...rest] = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, [impossiblePid, ...rest].join('\n'))
    return undefined
  }
  await endServer(postmaster.pid)
  return postmaster.pid
}

const impossiblePid = 2_147_483_647

/** Each signal to stop a server (fast, immediate, kill) and how long it gets to work. */
const signals = [
  { signal: 'SIGINT', wait_ms: 10_000 },
  { signal: 'SIGQUIT', wait_ms: 5_000 },
  { signal: 'SIGKILL', wait_ms: 5_000 },
] as const

const pollMs = 10

/** Stops a server, ever less politely; resolves when it is gone. */
export async function endServer(pid: number): Promise<void> {
  for (const { signal, wait_ms } of signals) {
    if (!sendSignal(pid, signal)) return
    for (let waitedMs = 0; waitedMs < wait_ms; waitedMs += pollMs) {
      await sleep(pollMs)
      if (!(await isRunning(pid))) return
    }
  }
  throw new Error(`the postgres process ${pid} does not end`)
}

/** A process that ended counts as gone, even where nobody collects it (a container's pid 1). */
export async function isRunning(pid: number): Promise<boolean> {
  if (!sendSignal(pid, 0)) return false
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return !/\) Z [^)]*$/.test(stat)
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    // EPERM: it is there and another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** A server works in its data folder; Linux shows that, elsewhere its command line names it. */
async function isServerOn(cluster: string, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') {
    const shown = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(
      () => ({ stdout: '' }),
    )
    return shown.stdout.includes('postgres') && shown.stdout.includes(cluster)
  }
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  return name.trim() === 'postgres' && folder === (await realpath(cluster))
}
