import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { mayReadSigningKeys } from '../capabilities/access/index.ts'
import type { MoveSource } from '../capabilities/move/index.ts'
import type { Blobs } from '../platform/blobs/index.ts'
import { type ColumnarServer, columnarSchemaStatus } from '../platform/columnar/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { MigrationRefused, refuseNewer, type SchemaStatus } from '../platform/migrations/index.ts'
import { type Relational, relationalSchemaStatus } from '../platform/relational/index.ts'
import { secretKeyFile, startServers, takeDataFolder } from './data-folder.ts'
import { openBlobsAt } from './jobs.ts'
import { openPostgres, postgresUrl, type Tables } from './postgres.ts'
import { queueFileIn } from './queues.ts'
import type { RoleContext } from './running.ts'
import { openClickHouse } from './stores.ts'

type Config = RoleConfig<'all'>

/** The move is not possible, and nothing was changed. The message says what to do. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused'
}

/** The stores of an embedded installation, which no service uses. They are only read. */
export type EmbeddedStores = {
  identity: MoveSource
  postgres_url: string
  relational: Relational<Tables>
  columnar: ColumnarServer
  archives: Blobs
  queue_file: string
}

/**
 * Locks the data folder and starts its servers, until `context.parts` ends. Throws MoveRefused when
 * the folder has no installation, or one of another version, and DataFolderRefused when a service
 * uses it.
 */
export async function openEmbedded(context: RoleContext, config: Config): Promise<EmbeddedStores> {
  const folder = resolve(config.data_directory)
  await assertInstallation(folder)
  await takeDataFolder(context, config)
  const embedded = await startServers(
    context,
    { ...config, ...embeddedSettings, data_directory: folder },
    readOnlySettings,
  )
  const relational = openPostgres(context, embedded)
  const columnar = openClickHouse(context, { ...embedded, clickhouse_cluster: undefined })
  await assertCurrent(async () => [
    await relationalSchemaStatus(relational),
    await columnarSchemaStatus({ columnar }),
  ])
  return {
    identity: await readIdentity(relational),
    postgres_url: postgresUrl(embedded),
    relational,
    columnar,
    archives: openBlobsAt(context, embedded),
    queue_file: queueFileIn(folder),
  }
}

/** The settings of the target have no effect on the source: its stores are in the data folder. */
const embeddedSettings = {
  postgres_url: undefined,
  clickhouse_url: undefined,
  /** The default, which names the database of an embedded ClickHouse. */
  clickhouse_database: 'looptrace',
  blobs_url: undefined,
}

/** Without background writes, the number of the next transaction only changes with the data. */
const readOnlySettings = { autovacuum: 'off', default_transaction_read_only: 'on' }

/** Throws MoveRefused when a store is missing, which the servers would create. */
async function assertInstallation(folder: string): Promise<void> {
  for (const store of ['postgres/cluster/PG_VERSION', 'clickhouse/engine']) {
    await access(join(folder, store)).catch((cause: unknown) => {
      throw new MoveRefused(
        `${folder} has no ${store}, so it is not the data folder of an embedded installation. Set LOOPTRACE_DATA_DIRECTORY to that folder.`,
        { cause },
      )
    })
  }
}

/** Throws MoveRefused unless the stores have the schema of this code. */
export async function assertCurrent(readStores: () => Promise<SchemaStatus[]>): Promise<void> {
  try {
    const stores = await readStores()
    stores.forEach(refuseNewer)
    if (stores.every(({ pending }) => pending.length === 0)) return
  } catch (cause) {
    if (!(cause instanceof MigrationRefused)) throw cause
    throw new MoveRefused(
      `this version of Looptrace cannot read the embedded installation (${cause.message}). Move it with the version that made its schema, or start the cluster with empty stores.`,
      { cause },
    )
  }
  throw new MoveRefused(
    'the embedded installation has an earlier schema. Start it once with this version of Looptrace, stop it, and run the move again.',
  )
}

async function readIdentity({ pool }: Relational<Tables>): Promise<MoveSource> {
  const { rows } = await pool.query<MoveSource>(
    `select system_identifier::text as id, pg_snapshot_xmax(pg_current_snapshot())::text as position
     from pg_control_system()`,
  )
  const [identity] = rows
  if (identity === undefined) throw new TypeError('pg_control_system returned no row')
  return identity
}

/** Throws MoveRefused unless the secret key is that of the installation. */
export async function assertSecretKey(
  { clock }: RoleContext,
  { relational: { db } }: EmbeddedStores,
  { secret_key, data_directory }: Config,
): Promise<void> {
  const where = `Use the key of the embedded installation: \`secret-key\` in its Secret, or the file ${join(data_directory, secretKeyFile)}.`
  if (secret_key === undefined) {
    throw new MoveRefused(`LOOPTRACE_SECRET_KEY is missing. ${where}`)
  }
  if (await mayReadSigningKeys(db, { secret_key, now: new Date(clock.now_ms()) })) return
  throw new MoveRefused(
    `LOOPTRACE_SECRET_KEY does not decrypt the signing keys, so all sessions would end. ${where}`,
  )
}
