import { createPasswordResets, findLogin } from '../capabilities/access/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { runInInstallation } from '../platform/tenancy/index.ts'
import { runAudited } from './audited-command.ts'
import { startServers, takeDataFolder } from './data-folder.ts'
import { openPostgres } from './postgres.ts'
import { oneShotContext, print, type RoleContext } from './running.ts'

/**
 * Prints a link with which a person sets a new password, for the owner of the machine. Exit status
 * 1 when the e-mail has no account. With embedded servers the service must be stopped, because it
 * locks the data folder.
 */
export async function resetPassword(config: RoleConfig<'all'>, email: string): Promise<number> {
  await using parts = new AsyncDisposableStack()
  const context = oneShotContext('reset-password', config, parts)
  const { clock, logger } = context
  const { db } = openPostgres(context, await withPostgres(context, config))
  const { public_url } = config
  const resets = createPasswordResets({ db, clock, logger, public_url })
  const login = await runInInstallation('a person of any organization', () =>
    findLogin(db, email.trim().toLowerCase()),
  )
  const link = await runAudited(
    { clock, db },
    {
      name: 'reset-password',
      resource_type: 'access/users',
      resource_id: login?.id ?? null,
      work: async () => login && (await resets.create({ user_id: login.id, created_by: null })),
      outcomeOf: () => ({ outcome: 'refused', code: 'user_not_found' }),
    },
  )
  if (link === undefined) {
    print({ email, error: 'no account has this e-mail' })
    return 1
  }
  print({ email, ...link })
  return 0
}

/** Starts the embedded PostgreSQL unless another one is configured. ClickHouse is not needed. */
async function withPostgres(
  context: RoleContext,
  config: RoleConfig<'all'>,
): Promise<RoleConfig<'all'>> {
  if (config.postgres_url !== undefined) return config
  await takeDataFolder(context, config)
  return startServers(context, { ...config, clickhouse_url: 'http://unused.invalid' })
}
