import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mintGivenSecrets } from '../capabilities/access/index.ts'
import { systemClock } from '../kernel/time.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import {
  type KubeClient,
  KubeConflict,
  KubeNotFound,
  type ObjectAt,
  openKube,
  secretResource,
} from '../platform/kube/index.ts'
import { readConfiguredOperatorKey } from './data-folder.ts'
import { openPostgres } from './postgres.ts'
import { migrateQueue } from './queues.ts'
import { oneShotContext, print } from './running.ts'
import { migrateStores } from './schema.ts'
import { openClickHouse } from './stores.ts'

/**
 * Migrates both stores to the current schema, changes the streams in NATS to the settings, and creates the
 * first login. If a Secret is configured
 * for the login, it is created first, so that a killed run loses nothing and the next run
 * continues. Otherwise the login is printed, unless it was configured.
 */
export async function migrate(
  given: RoleConfig<'migrate'>,
  { may_shrink }: { may_shrink: boolean },
): Promise<number> {
  const config = await withSharedSecrets(given)
  await using parts = new AsyncDisposableStack()
  const context = oneShotContext('migrate', config, parts)
  const relational = openPostgres(context, config)
  const columnar = openClickHouse(context, config)
  await migrateStores(context, config, { relational, columnar }, async (secrets) => {
    if (config.bootstrap_project_key === undefined) print({ first_login: secrets })
  })
  if (config.nats_url !== undefined) await migrateQueue(context, config, { may_shrink })
  print({ schema: 'current' })
  return 0
}

/** Creates the Secret of the first login if it is missing, and nothing else. */
export async function migrateSecret(config: RoleConfig<'migrate'>): Promise<number> {
  if (config.bootstrap_secret === undefined) {
    throw new ConfigError('LOOPTRACE_BOOTSTRAP_SECRET: missing, expected namespace/name')
  }
  const secrets = await readBootstrapSecret(config.bootstrap_secret, config.bootstrap_email)
  await writeFiles(config.bootstrap_directory, secrets)
  print({ secret: config.bootstrap_secret })
  return 0
}

/** Adds the values of the Secret, which override other settings. */
async function withSharedSecrets(config: RoleConfig<'migrate'>): Promise<RoleConfig<'migrate'>> {
  if (config.bootstrap_secret === undefined) {
    return { ...config, operator_key: await readConfiguredOperatorKey(config) }
  }
  const secrets = await readBootstrapSecret(config.bootstrap_secret, config.bootstrap_email)
  await writeFiles(config.bootstrap_directory, secrets)
  print({ secret: config.bootstrap_secret })
  return {
    ...config,
    secret_key: secrets['secret-key'],
    bootstrap_email: secrets['admin-email'],
    bootstrap_password: secrets['admin-password'],
    bootstrap_project_id: secrets['project-id'],
    bootstrap_project_key: secrets['project-key'],
    operator_key: secrets['operator-key'],
  }
}

/**
 * Writes the values as files for the other containers of the pod. A volume of the Secret itself
 * would block the pod before this process can create the Secret. Each file is renamed into place,
 * so that a repeated run replaces it.
 */
async function writeFiles(directory: string | undefined, secrets: SharedSecrets): Promise<void> {
  if (directory === undefined) return
  for (const key of keys) {
    const path = join(directory, key)
    await rm(`${path}.new`, { force: true })
    await writeFile(`${path}.new`, secrets[key], { mode: 0o400, flag: 'wx' })
    await rename(`${path}.new`, path)
  }
}

/** The first login and the shared keys, by their names in the Secret. */
type SharedSecrets = Record<(typeof keys)[number], string>

const keys = [
  'secret-key',
  'admin-email',
  'admin-password',
  'project-key',
  'project-id',
  'operator-key',
] as const

/** The Secret can't be used. The message names the missing keys. */
class BootstrapSecretRefused extends Error {
  override readonly name = 'BootstrapSecretRefused'
}

const requestTimeoutMs = 15_000

/** Reads the Secret of `LOOPTRACE_BOOTSTRAP_SECRET`, or creates it. */
function readBootstrapSecret(where: string, admin_email: string): Promise<SharedSecrets> {
  const kube = openKube({ request_timeout_ms: requestTimeoutMs, clock: systemClock })
  return readOrCreateSecret(kube, parseLocation(where), admin_email)
}

/**
 * Reads the Secret, or creates it with new values. If several processes start at once, one creates
 * it and all use its values. Nothing is written elsewhere before, so a killed process loses
 * nothing.
 */
async function readOrCreateSecret(
  kube: Pick<KubeClient, 'read' | 'create'>,
  at: ObjectAt,
  admin_email: string,
): Promise<SharedSecrets> {
  const found = await read(kube, at)
  if (found !== undefined) return found
  try {
    await kube.create(secretResource, createSecretDraft(at, admin_email))
  } catch (error) {
    if (!(error instanceof KubeConflict)) throw error
  }
  const made = await read(kube, at)
  if (made !== undefined) return made
  throw new BootstrapSecretRefused(
    `Secret ${at.namespace}/${at.name} was deleted after its creation: run migrate again`,
  )
}

/** Parses `namespace/name`. */
function parseLocation(where: string): ObjectAt {
  const [namespace = '', name = '', ...rest] = where.split('/')
  if (namespace !== '' && name !== '' && rest.length === 0) return { namespace, name }
  throw new ConfigError(`LOOPTRACE_BOOTSTRAP_SECRET: got "${where}", expected namespace/name`)
}

async function read(
  kube: Pick<KubeClient, 'read'>,
  at: ObjectAt,
): Promise<SharedSecrets | undefined> {
  const secret = await kube.read(secretResource, at).catch((error: unknown) => {
    if (error instanceof KubeNotFound) return undefined
    throw error
  })
  if (secret === undefined) return undefined
  const { data = {} } = secret
  const lacking = keys.filter((key) => !data[key])
  if (lacking.length > 0) {
    throw new BootstrapSecretRefused(
      `Secret ${at.namespace}/${at.name} lacks ${lacking.join(', ')}: add the keys, or delete the Secret to create a new one`,
    )
  }
  const values = keys.map((key) => [key, Buffer.from(data[key] ?? '', 'base64').toString()])
  return Object.fromEntries(values)
}

function createSecretDraft({ namespace, name }: ObjectAt, admin_email: string) {
  const minted = mintGivenSecrets()
  const values: SharedSecrets = {
    'secret-key': randomBytes(32).toString('base64url'),
    'admin-email': admin_email,
    'admin-password': minted.admin_password,
    'project-key': minted.project_key,
    'project-id': minted.project_id,
    'operator-key': minted.operator_key,
  }
  const encoded = Object.entries(values).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ])
  const labels = {
    'app.kubernetes.io/part-of': 'looptrace',
    'app.kubernetes.io/managed-by': 'looptrace',
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels },
    type: 'Opaque',
    data: Object.fromEntries(encoded),
  }
}
