import type pg from 'pg'
import { currentScope, type TenantScope } from '../tenancy/index.ts'
import { findAppRole } from './app-role.ts'
import { queryAfter, type Statement } from './pipelined-query.ts'

/** Work outside of a tenant scope ran a statement. It was not sent to PostgreSQL. */
export class TenantScopeMissing extends Error {
  override readonly name = 'TenantScopeMissing'
}

/** A connection whose transactions and single statements run in the scope of the running work. */
export type ScopedClient = {
  query(statement: string | Statement, values?: readonly unknown[]): Promise<pg.QueryResult>
  /** Returns the connection to the pool, or closes it. */
  release(isBroken?: boolean | Error): void
}

/** Gives connections that run in tenant scopes. */
export type ScopedPool = {
  connect(): Promise<ScopedClient>
  end(): Promise<void>
  readonly options: pg.PoolConfig
}

type ScopeOptions = {
  /** Time after which the server cancels a statement. */
  statement_timeout_ms: number
  /** Scope of other work, for tests and tools. */
  fallback?: TenantScope | undefined
}

/**
 * Wraps a pool, so that each transaction begins with the role of the service, the scope of the
 * running work and the time limit of statements, in the round trip of `begin` or of the statement.
 * They end with the transaction, so that the next user of the connection does not have them, also
 * behind a pooler. Work inside of a transaction may run statements in another scope.
 */
export function scopePool(
  pool: pg.Pool,
  { statement_timeout_ms, fallback }: ScopeOptions,
): ScopedPool {
  const clients = new WeakMap<pg.PoolClient, ScopedClient>()
  let role: Promise<string> | undefined
  const scopeOf = () => currentScope() ?? fallback
  return {
    connect: async () => {
      const client = await pool.connect()
      const known = clients.get(client)
      if (known !== undefined) return known
      const appRole = () => {
        role ??= findAppRole(client).catch((error: unknown) => {
          role = undefined
          throw error
        })
        return role
      }
      const scoped = scopeClient(client, { scopeOf, appRole, statement_timeout_ms })
      clients.set(client, scoped)
      return scoped
    },
    end: () => pool.end(),
    options: pool.options,
  }
}

type ClientOptions = {
  scopeOf: () => TenantScope | undefined
  appRole: () => Promise<string>
  statement_timeout_ms: number
}

function scopeClient(
  client: pg.PoolClient,
  { scopeOf, appRole, statement_timeout_ms }: ClientOptions,
): ScopedClient {
  /** The scope in force in the open transaction; null without one. */
  let inForce: TenantScope | 'unknown' | null = null
  const preludeFor = async (scope: TenantScope, timeout_ms?: number) =>
    preludeOf(scope, scope.kind === 'owner' ? 'none' : await appRole(), timeout_ms)
  const begin = async (statement: Statement) => {
    const scope = demand(scopeOf(), statement)
    inForce = scope
    const prelude = await preludeFor(scope, statement_timeout_ms)
    try {
      return await queryAfter(client, statement, prelude)
    } catch (error) {
      // The server may have begun the transaction, and the caller does not end it.
      await client.query('rollback').catch(() => undefined)
      inForce = null
      throw error
    }
  }
  const end = (statement: Statement) => {
    inForce = null
    return client.query(statement.text)
  }
  const runInside = async (statement: Statement) => {
    // A rollback to a savepoint also takes back a scope that was set after it.
    if (controlPattern.test(statement.text)) {
      inForce = 'unknown'
      return client.query(statement.text)
    }
    const scope = demand(scopeOf(), statement)
    if (scope === inForce) return client.query(toConfig(statement))
    inForce = scope
    return queryAfter(client, await preludeFor(scope), statement)
  }
  const runAlone = async (statement: Statement) => {
    const scope = demand(scopeOf(), statement)
    if (scope.kind !== 'owner') {
      return queryAfter(client, await preludeFor(scope, statement_timeout_ms), statement)
    }
    // A partition is detached concurrently, which must not share a transaction. The setting stays
    // on the connection: it is the limit of every connection of the service.
    await client.query(`set statement_timeout = ${statement_timeout_ms}`)
    return client.query(toConfig(statement))
  }
  return {
    query: (asked, values) => {
      const statement = typeof asked === 'string' ? { text: asked, values } : asked
      if (beginPattern.test(statement.text)) return begin(statement)
      if (endPattern.test(statement.text)) return end(statement)
      return inForce === null ? runAlone(statement) : runInside(statement)
    },
    release: (isBroken) => {
      const wasOpen = inForce !== null
      inForce = null
      client.release(isBroken ?? wasOpen)
    },
  }
}

const beginPattern = /^(begin|start transaction)\b/
const endPattern = /^(commit|rollback)$/
const controlPattern = /^(savepoint|rollback to|release)\b/

function toConfig({ text, values, query_timeout }: Statement): pg.QueryConfig {
  return {
    text,
    ...(values !== undefined && { values: [...values] }),
    ...(query_timeout !== undefined && { query_timeout }),
  }
}

function demand(scope: TenantScope | undefined, { text }: Statement): TenantScope {
  if (scope !== undefined) return scope
  throw new TenantScopeMissing(
    `a statement outside of a tenant scope was refused; wrap its work in runInProject: ${text.slice(0, 200)}`,
  )
}

/** Settings that the policies read; all of them each time, so that none is left from a session. */
const preludeText = `select set_config('role', $1, true), set_config('looptrace.scope', $2, true),
  set_config('looptrace.project_id', $3, true), set_config('looptrace.organization_id', $4, true)`

/**
 * The prelude of a transaction. Poolers refuse the time limit as a parameter of the connection, or
 * ignore it. A change of the scope inside of a transaction keeps a limit that the work has set.
 */
const firstPreludeText = `${preludeText}, set_config('statement_timeout', $5, true)`

/**
 * Returns the statement that sets the role and the scope until the end of the transaction, and the
 * time limit of its statements if there is one.
 */
export function preludeOf(
  scope: TenantScope | undefined,
  role: string,
  statement_timeout_ms?: number,
): Statement {
  const kind = scope?.kind === 'owner' ? undefined : scope?.kind
  const project_id = scope?.kind === 'project' ? scope.project_id : ''
  const organization_id = scope?.kind === 'organization' ? scope.organization_id : ''
  const values = [role, kind ?? 'none', project_id, organization_id]
  if (statement_timeout_ms === undefined) return { text: preludeText, values }
  return { text: firstPreludeText, values: [...values, String(statement_timeout_ms)] }
}
