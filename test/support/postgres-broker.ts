import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type EmbeddedPostgres,
  migrateRelational,
  openRelational,
  type Relational,
  startEmbeddedPostgres,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { type Broker, startBroker } from './broker.ts'

/** PostgreSQL starts with the first request, so a run that needs none pays nothing. */
export function startPostgresBroker(): Promise<Broker> {
  let shared: Promise<SharedServer> | undefined
  let made = 0
  return startBroker(
    async (path) => {
      shared ??= startSharedServer()
      made += 1
      return makeDatabase(
        shared,
        `test_${made}`,
        path === '/empty' ? 'template0' : migratedTemplate,
      )
    },
    async () => {
      const started = await shared?.catch(() => undefined)
      await started?.close()
    },
  )
}

type SharedServer = {
  postgres: Pick<EmbeddedPostgres, 'url'>
  admin: Relational<unknown>
  /** Copies files of the template, which is faster; since PostgreSQL 15. */
  strategy: string
  close: () => Promise<void>
}

const migratedTemplate = 'migrated'

/**
 * Test data need not survive a crash: fsync is off. With hundreds of databases, autovacuum would start
 * a process several times a second.
 */
const settings = {
  autovacuum: 'off',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
}

const logger = createLogger({ role: 'test-postgres', level: 'error' })

/**
 * Starts an embedded server, or uses the one of TEST_POSTGRES_URL, a superuser of any supported
 * version. Its databases of earlier runs are replaced.
 */
async function startSharedServer(): Promise<SharedServer> {
  const given = process.env['TEST_POSTGRES_URL']
  const postgres = given === undefined ? await startServer() : { url: given, stop: async () => {} }
  const limits = { pool_max: 4, connect_timeout_ms: 30_000, statement_timeout_ms: 30_000 }
  const admin = openRelational<unknown>({ scope: allTenants, url: postgres.url, ...limits, logger })
  const close = async () => {
    await admin.close()
    await postgres.stop()
  }
  const { rows } = await admin.pool.query('show server_version_num')
  const strategy = Number(rows[0]?.server_version_num) >= 150_000 ? 'strategy file_copy' : ''
  await replaceDatabase(admin, migratedTemplate)
  await migrateRelational({ url: urlOf(postgres, migratedTemplate), logger })
  return { postgres, admin, strategy, close }
}

async function replaceDatabase(
  { pool }: Pick<Relational<unknown>, 'pool'>,
  name: string,
  from = '',
): Promise<void> {
  await pool.query(`drop database if exists ${name} with (force)`)
  await pool.query(`create database ${name} ${from}`)
}

async function startServer(): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-test-postgres-'))
  // Under root, the server runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  const remove = () => rm(directory, { recursive: true })
  const postgres = await startEmbeddedPostgres({ directory, settings, logger }).catch(
    async (error: unknown) => {
      await remove()
      throw error
    },
  )
  const stop = async () => {
    await postgres.stop()
    await remove()
  }
  return { url: postgres.url, stop }
}

async function makeDatabase(
  shared: Promise<SharedServer>,
  name: string,
  template: string,
): Promise<string> {
  const { postgres, admin, strategy } = await shared
  await replaceDatabase(admin, name, `template ${template} ${strategy}`)
  return urlOf(postgres, name, process.env['TEST_POSTGRES_POOLER'])
}

/** Returns the URL of a database, at the address of a pooler if there is one. */
function urlOf(
  postgres: Pick<EmbeddedPostgres, 'url'>,
  database: string,
  host?: string | undefined,
): string {
  const url = new URL(postgres.url)
  url.pathname = `/${database}`
  if (host !== undefined) url.host = host
  return url.href
}
