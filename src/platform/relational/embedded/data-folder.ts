import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  access,
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import type { Logger } from '../../telemetry/index.ts'
import { EmbeddedPostgresRefused, type PostgresBinaries } from './postgres-binaries.ts'
import { type ServerIdentity, serverEnvironment } from './server-identity.ts'

/** The only role of the embedded server, its superuser; also the name of the database. */
export const embeddedRole = 'looptrace'

/** PostgreSQL's own data folder, and the password of the role. */
export type DataFolder = { cluster: string; password: string }

/** Programs, account and signal for `initdb`. */
type Programs = {
  binaries: PostgresBinaries
  identity: ServerIdentity
  /** Stops `initdb`. */
  signal?: AbortSignal | undefined
}

/**
 * Creates the data folder if it is missing. `initdb` works in a temporary folder that is renamed
 * when it is complete. The next start removes the temporary folder of a killed run.
 */
export async function prepareDataFolder(
  directory: string,
  programs: Programs & { logger: Logger },
): Promise<DataFolder> {
  const { identity } = programs
  const cluster = `${directory}/cluster`
  const exists = await pathExists(cluster)
  const password = await readPassword(`${directory}/password`, exists)
  if (exists) {
    // PostgreSQL rejects a group-writable folder, as the fsGroup of Kubernetes makes it.
    await chmod(cluster, 0o700)
    return { cluster, password }
  }
  for (const name of await readdir(directory)) {
    if (name.startsWith('new-')) await rm(`${directory}/${name}`, { recursive: true, force: true })
  }
  programs.logger.info('creating the data folder of PostgreSQL (first start only)')
  const made = `${directory}/new-${randomBytes(4).toString('hex')}`
  await mkdir(made, { mode: 0o700 })
  await writeFile(`${made}.password`, password, { mode: 0o600 })
  if (identity.account !== undefined) {
    const { uid, gid } = identity.account
    await Promise.all([chown(made, uid, gid), chown(`${made}.password`, uid, gid)])
  }
  await runInitdb(made, programs)
  await rm(`${made}.password`)
  await rename(made, cluster)
  await syncFolder(directory)
  return { cluster, password }
}

async function pathExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Reads the password, or creates it. It is created before the data folder, which needs it. */
async function readPassword(file: string, clusterExists: boolean): Promise<string> {
  if (await pathExists(file)) return (await readFile(file, 'utf8')).trim()
  if (clusterExists) {
    throw new EmbeddedPostgresRefused(
      `${file} is missing: restore the file with the password of the database`,
    )
  }
  const password = randomBytes(24).toString('base64url')
  await writeFile(`${file}.new`, password, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  return password
}

/**
 * Flags of `initdb`. Authentication is by password (SCRAM). The locale is PostgreSQL's built-in
 * C.UTF-8: the same order and case rules on every machine, and no index to rebuild when the
 * system's C library changes.
 */
const initdbFlags = [
  `--username=${embeddedRole}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
]

function runInitdb(made: string, { binaries, identity, signal }: Programs): Promise<void> {
  const flags = [`--pgdata=${made}`, `--pwfile=${made}.password`, ...initdbFlags]
  const [file = '', ...args] = [...identity.prefix, binaries.initdb, ...flags]
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      ...identity.ids,
      cwd: '/',
      env: serverEnvironment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const stop = () => child.kill('SIGTERM')
    signal?.addEventListener('abort', stop, { once: true })
    let output = ''
    child.stderr.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-outputCharsMax)
    })
    child.once('error', reject)
    child.once('close', (code, signalled) => {
      signal?.removeEventListener('abort', stop)
      if (code === 0) return resolve()
      const reason = output.trim().split('\n').findLast(isError) ?? output.trim()
      const how = signalled ?? `exit status ${code}`
      reject(new EmbeddedPostgresRefused(`initdb of ${made} ended with ${how}: ${reason}`))
    })
  })
}

const outputCharsMax = 2_000

function isError(line: string): boolean {
  return /error|fatal|panic/i.test(line)
}

/** Syncs a folder. Otherwise a power cut could undo the rename. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
