import { execFile } from 'node:child_process'
import { chownSync } from 'node:fs'
import { access, constants, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { unprivilegedUser } from './unprivileged-user.ts'

const run = promisify(execFile)
const programs = ['initdb', 'pg_ctl', 'postgres', 'pg_dump', 'pg_restore']

/** Why a test of pg_dump was skipped, and what to do. */
export const noPostgresPrograms = `no PostgreSQL of this machine with ${programs.join(', ')}; install postgresql-15 or later, or set TEST_POSTGRES_BIN to their folder`

/** Returns the folder of the programs: TEST_POSTGRES_BIN, else the newest of Debian. */
export async function postgresPrograms(): Promise<string | undefined> {
  const given = process.env['TEST_POSTGRES_BIN']
  if (given !== undefined) return given
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  for (const version of versions.toSorted((a, b) => Number(b) - Number(a))) {
    const folder = join(root, version, 'bin')
    const found = await Promise.all(programs.map((name) => isProgram(join(folder, name))))
    if (found.every(Boolean)) return folder
  }
  return undefined
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/**
 * Starts a server of these programs, in a temporary folder. Its superuser `looptrace` needs no
 * password.
 */
export async function startPostgresOf(bin: string): Promise<AsyncDisposable & { url: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-postgres-of-'))
  const user = unprivilegedUser()
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid ?? user.uid)
  const data = join(directory, 'data')
  const port = await freePort()
  const pgCtl = (...args: string[]) => run(join(bin, 'pg_ctl'), ['-D', data, '-w', ...args], user)
  const remove = () => rm(directory, { recursive: true })
  try {
    const options = ['-D', data, '-U', 'looptrace', '-A', 'trust', '-E', 'UTF8', '--locale=C']
    await run(join(bin, 'initdb'), options, { ...user, cwd: directory })
    const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`
    await pgCtl('-l', join(directory, 'log'), '-o', settings, 'start')
  } catch (error) {
    await remove()
    throw error
  }
  return {
    url: `postgres://looptrace@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: async () => {
      await pgCtl('-m', 'immediate', 'stop')
      await remove()
    },
  }
}
