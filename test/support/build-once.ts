import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { sleep } from '../../src/kernel/time.ts'

/** Building the Go programs takes minutes on two cores when Go's own cache is empty too. */
const wait_ms_max = 900_000
const poll_ms = 200

/** The folder of built and downloaded test tools, shared by all checkouts of this user. */
const folder = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'looptrace-test-tools',
)

/** Returns the path of an entry of that folder; it need not exist. An absolute path stays. */
export function toolCachePath(name: string): string {
  return resolve(folder, name)
}

/**
 * Returns the path of a cached tool (a file or a folder) and builds it first if it is missing.
 * `name` must contain everything the tool depends on: its version, or a hash of its sources.
 * `make` receives the path to build at. Concurrent callers, also of other checkouts, wait for
 * one build.
 */
export async function builtOnce(
  name: string,
  make: (place: string) => Promise<void>,
): Promise<string> {
  const path = toolCachePath(name)
  await mkdir(dirname(path), { recursive: true })
  const lock = `${path}.lock`
  for (const start = Date.now(); Date.now() - start < wait_ms_max; ) {
    if (await exists(path)) return path
    if (await tryLock(lock)) {
      try {
        return await makeInPlace(path, make)
      } finally {
        await rm(lock, { force: true })
      }
    }
    await sleep(poll_ms)
  }
  throw new Error(`${path} was not built within ${wait_ms_max} ms by the process in ${lock}`)
}

/** Moved into place as a whole, so that no reader sees a part of it. */
async function makeInPlace(path: string, make: (place: string) => Promise<void>): Promise<string> {
  if (await exists(path)) return path
  const building = `${path}.${process.pid}`
  try {
    await make(building)
    await rename(building, path)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return path
}

/** A lock whose process has ended is void. */
async function tryLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const pid = Number(await readFile(lock, 'utf8').catch(() => ''))
  if (pid > 0 && !runs(pid)) await rm(lock, { force: true })
  return false
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
