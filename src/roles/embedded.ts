import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedClickHouse } from '../platform/columnar/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { startEmbeddedPostgres } from '../platform/relational/index.ts'
import { blobsUrlOf } from './archives.ts'
import type { RoleContext } from './running.ts'

type AllConfig = RoleConfig<'all'>

/**
 * Starts a server for each store that the configuration names none for, and answers the
 * configuration with their addresses. They stop when the role ends, after everything else.
 */
export async function startServers(context: RoleContext, config: AllConfig): Promise<AllConfig> {
  const [postgres, clickhouse] = await Promise.all([
    config.postgres_url === undefined ? postgresIn(context, config) : {},
    config.clickhouse_url === undefined ? clickHouseIn(context, config) : {},
  ])
  return { ...config, ...postgres, ...clickhouse, blobs_url: blobsUrlOf(config) }
}

async function postgresIn({ logger, metrics, parts, fail }: RoleContext, config: AllConfig) {
  const restarts = restartCounter(metrics, 'postgres')
  const server = await startEmbeddedPostgres({
    directory: join(config.data_directory, 'postgres'),
    on_restart: restarts,
    logger,
  })
  parts.defer(() => server.stop())
  server.stopped.then((error) => error && fail(error))
  return { postgres_url: server.url }
}

async function clickHouseIn({ logger, metrics, parts }: RoleContext, config: AllConfig) {
  const restarts = restartCounter(metrics, 'clickhouse')
  const server = await startEmbeddedClickHouse({
    directory: join(config.data_directory, 'clickhouse'),
    on_restart: restarts,
    logger,
  })
  parts.defer(() => server.stop())
  return {
    clickhouse_url: server.url,
    clickhouse_username: server.username,
    clickhouse_password: server.password,
  }
}

/** Counts the restarts of a server that the role started. */
export function restartCounter(
  metrics: RoleContext['metrics'],
  server: 'postgres' | 'clickhouse',
): () => void {
  const counter = metrics.counter({
    name: `looptrace_embedded_${server}_restarts_total`,
    help: `Times the embedded ${server} died and was started again.`,
  })
  return () => counter.inc()
}

/**
 * The key that seals the token-signing keys: the one that is set, else one of our own in a file of
 * mode 0600, made at the first start.
 */
export async function secretKeyOf(config: AllConfig): Promise<string> {
  if (config.secret_key !== undefined) return config.secret_key
  await mkdir(config.data_directory, { recursive: true })
  const path = join(config.data_directory, 'secret-key')
  const known = await readFile(path, 'utf8').catch(() => undefined)
  if (known !== undefined) return known.trim()
  const made = randomBytes(32).toString('base64url')
  await writeFile(path, `${made}\n`, { mode: 0o600, flag: 'wx' })
  return made
}
