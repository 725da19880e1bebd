import {
  type BootstrapSecrets,
  bootstrap,
  createPasswordStrength,
} from '../capabilities/access/index.ts'
import { isMoveUnfinished } from '../capabilities/move/index.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../cli/index.ts'
import { render } from '../cli/output.ts'
import { tableOf } from '../cli/terminal/table.ts'
import {
  type ColumnarServer,
  ColumnarUnavailable,
  columnarSchemaStatus,
  migrateColumnar,
} from '../platform/columnar/index.ts'
import {
  ConfigError,
  loadConfig,
  type RoleConfig,
  type Settings,
} from '../platform/config/index.ts'
import {
  assertSchemaCurrent,
  MigrationRefused,
  type SchemaStatus,
} from '../platform/migrations/index.ts'
import {
  migrateRelational,
  type Relational,
  relationalSchemaStatus,
} from '../platform/relational/index.ts'
import { runAudited } from './audited-command.ts'
import {
  explainPostgres,
  openPostgres,
  PostgresUnavailable,
  postgresUrl,
  type Tables,
} from './postgres.ts'
import type { RoleContext } from './running.ts'
import { oneShotContext } from './running.ts'
import { openClickHouse } from './stores.ts'

/**
 * Migrates both stores to this code's schema, and creates the first login if it is missing. Then
 * `deliver` receives its secrets, once, before they are valid. Safe to run concurrently.
 */
export async function migrateStores(
  context: Pick<RoleContext, 'logger' | 'clock' | 'stop'>,
  config: Settings<'relational' | 'columnar' | 'access' | 'operator_key'>,
  stores: { relational: Relational<Tables>; columnar: ColumnarServer },
  deliver: Deliver,
): Promise<void> {
  const { logger, clock, stop } = context
  const { relational, columnar } = stores
  stop.throwIfAborted()
  await assertMoveFinished(relational)
  // Throws for a schema that cannot be migrated, before a store is changed.
  const { pending } = await columnarSchemaStatus({ columnar })
  const migrations = new Set<string>()
  await migrateRelational({
    url: postgresUrl(config),
    logger,
    after_statement: ({ migration }) => void migrations.add(migration),
  }).catch(explainPostgres)
  stop.throwIfAborted()
  await migrateColumnar({
    columnar,
    ...(config.clickhouse_cluster !== undefined && { cluster: config.clickhouse_cluster }),
    logger,
  })
  stop.throwIfAborted()
  const changed = { postgres: [...migrations], clickhouse: pending }
  const { db } = relational
  await runAudited(
    { clock, db },
    {
      name: 'migrate',
      resource_type: 'schema',
      resource_id: null,
      work: async (call) => {
        call.noteChange({ after: { migrations: changed } })
        await bootstrapStores(context, config, { db, deliver })
      },
      // The first migration creates the table of the record, so the record is written afterwards.
      outcomeOf: () =>
        migrations.size + pending.length > 0 ? { outcome: 'succeeded' } : undefined,
    },
  )
}

/** Creates the first login, and adds given secrets that the store does not know. */
async function bootstrapStores(
  { logger, clock }: Pick<RoleContext, 'logger' | 'clock'>,
  config: Settings<'relational' | 'columnar' | 'access' | 'operator_key'>,
  { db, deliver }: Pick<Relational<Tables>, 'db'> & { deliver: Deliver },
): Promise<void> {
  await bootstrap({
    db,
    clock,
    admin_email: config.bootstrap_email,
    admin_password: config.bootstrap_password,
    project_id: config.bootstrap_project_id,
    project_key: config.bootstrap_project_key,
    operator_key: config.operator_key,
    deliver: async (secrets) => {
      await deliver(secrets)
      if (config.bootstrap_password !== undefined) await warnOfWeakness(logger, secrets)
    },
  })
}

/** Takes the secrets of the first login. */
type Deliver = (secrets: BootstrapSecrets) => Promise<void>

/**
 * Throws MigrationRefused during a move into these stores, so that no role starts on half of the
 * data.
 */
async function assertMoveFinished({ pool }: Relational<Tables>): Promise<void> {
  if (!(await isMoveUnfinished(pool).catch(explainPostgres))) return
  throw new MigrationRefused(
    'the data of an embedded installation is being moved into these stores: run `looptrace move` to its end, and then start again',
  )
}

/** Warns of a configured password that is easy to guess. The start continues. */
async function warnOfWeakness(
  logger: RoleContext['logger'],
  { admin_email, admin_password }: BootstrapSecrets,
): Promise<void> {
  const strength = createPasswordStrength()
  const reason = await strength.findWeakness(admin_password, [admin_email])
  await strength.close()
  if (reason === undefined) return
  logger.warn({ reason }, 'LOOPTRACE_BOOTSTRAP_PASSWORD is easy to guess: change it')
}

/** Schema status of each store. `error` says why a store is not current. */
type SchemaCheck = {
  postgres: SchemaStatus
  clickhouse: SchemaStatus
  error: string | null
}

/** Compares both stores with this code's schema. Rejects when a store is unavailable. */
async function migrateCheck(config: RoleConfig<'migrate'>): Promise<SchemaCheck> {
  await using parts = new AsyncDisposableStack()
  const context = oneShotContext('migrate', config, parts)
  const { pool } = openPostgres(context, config)
  const columnar = openClickHouse(context, config)
  const stores = {
    postgres: await relationalSchemaStatus({ pool }).catch(explainPostgres),
    clickhouse: await columnarSchemaStatus({ columnar }),
  }
  try {
    for (const status of Object.values(stores)) assertSchemaCurrent(status)
    return { ...stores, error: null }
  } catch (error) {
    if (!(error instanceof MigrationRefused)) throw error
    return { ...stores, error: error.message }
  }
}

/** Prints the schema status of the stores. Exit status 1 if not current, 3 without an answer. */
export async function checkSchema(asked: Arguments, io: CommandIo): Promise<number> {
  const check = await runCheck().catch(toCliError)
  const isPlain = asked.value('output') === undefined
  io.out(isPlain ? toLines(check) : render(asked, check, () => toTable(check)))
  return check.error === null ? exitStatus.ok : exitStatus.findings
}

async function runCheck(): Promise<SchemaCheck> {
  return migrateCheck(loadConfig('migrate'))
}

function toCliError(error: unknown): never {
  if (error instanceof ConfigError) throw new UsageError(error.message)
  const isGone = error instanceof PostgresUnavailable || error instanceof ColumnarUnavailable
  throw isGone ? new NoAnswer(error.message, { cause: error }) : error
}

/** Formats one JSON object per line, for scripts. */
function toLines({ error, ...stores }: SchemaCheck): string {
  const lines = [stores, ...(error === null ? [] : [{ error }])]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

function toTable({ error, ...stores }: SchemaCheck): string {
  const rows = Object.entries(stores).map(([store, { current, latest, pending }]) => {
    return [store, String(current), String(latest), pending.join(', ')]
  })
  const table = tableOf(['STORE', 'CURRENT', 'LATEST', 'PENDING'], rows)
  return error === null ? table : `${table}\n${error}\n`
}
