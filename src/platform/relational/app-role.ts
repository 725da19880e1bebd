import type pg from 'pg'

/** The role of statements of the service. It owns nothing, and row-level security applies to it. */
export const appRole = 'looptrace_app'

/** The login bypasses row-level security, so that PostgreSQL would not separate tenants. */
class TenantPolicyBypassed extends Error {
  override readonly name = 'TenantPolicyBypassed'
}

/**
 * Returns the role that statements switch to: `looptrace_app` if the login may, otherwise `none`
 * for a login to which row-level security applies. Throws TenantPolicyBypassed for a login that
 * bypasses it and cannot switch.
 */
export async function findAppRole(client: Pick<pg.ClientBase, 'query'>): Promise<string> {
  if (await canSwitch(client)) return appRole
  const { rows } = await client.query<{ login: string; bypasses: boolean }>(
    `select rolname as login, rolsuper or rolbypassrls as bypasses
     from pg_roles where rolname = session_user`,
  )
  if (rows[0]?.bypasses === false) return 'none'
  const login = rows[0]?.login ?? ''
  throw new TenantPolicyBypassed(
    `the PostgreSQL login "${login}" bypasses row-level security and cannot switch to the role ${appRole}. ` +
      `Run looptrace migrate; if the role is still missing, run as an administrator: ` +
      `create role ${appRole} nologin; grant ${appRole} to "${login}"; and run looptrace migrate again`,
  )
}

/** Tries the switch, because the required privilege differs between versions of PostgreSQL. */
async function canSwitch(client: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  try {
    await client.query(`select set_config('role', '${appRole}', true)`)
    return true
  } catch (error) {
    // 22023: there is no such role. 42501: the login is not a member of it.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === '22023' || code === '42501') return false
    throw error
  }
}
