import type pg from 'pg'
import { currentScope, type TenantScope } from '../tenancy/index.ts'
import { findAppRole } from './app-role.ts'
import { isDirectSession } from './direct-session.ts'
import {
  type PipelineResult,
  runPipeline,
  type SideStatement,
  type Statement,
} from './pipelined-query.ts'

/** Work outside of a tenant scope ran a statement. It was not sent to PostgreSQL. */
class TenantScopeMissing extends Error {
  override readonly name = 'TenantScopeMissing'
}

/** A connection whose transactions and single statements run in the scope of the running work. */
export type ScopedClient = {
  query(statement: Statement): Promise<pg.QueryResult>
  /** Begins a transaction with the next statement, in its round trip. */
  begin(text: string): void
  /**
   * Commits, after a last statement in the same round trip. If that fails, the transaction stays
   * open, to be rolled back. Resolves to false if PostgreSQL rolled back, because an earlier
   * statement failed.
   */
  commit(last?: SideStatement): Promise<boolean>
  rollback(): Promise<void>
  /**
   * Runs two statements in one transaction and one round trip, without an open transaction. If one
   * of them fails, neither has an effect.
   */
  queryBoth(first: Statement, second: SideStatement): Promise<PipelineResult>
  /** Returns the connection to the pool, or closes it. */
  release(isBroken?: boolean | Error): void
}

/** Gives connections that run in tenant scopes. */
export type ScopedPool = {
  connect(): Promise<ScopedClient>
  end(): Promise<void>
}

type ScopeOptions = {
  /** Time after which the server cancels a statement. */
  statement_timeout_ms: number
  /** Scope of other work, for tests and tools. */
  fallback?: TenantScope | undefined
}

/**
 * Wraps a pool, so that each transaction begins with the role of the service, the scope of the
 * running work and the time limit of statements, in the round trip of its first statement. They
 * end with the transaction, so that the next user of the connection does not have them, also behind
 * a pooler. Work inside of a transaction may run statements in another scope.
 */
export function scopePool(
  pool: pg.Pool,
  { statement_timeout_ms, fallback }: ScopeOptions,
): ScopedPool {
  const clients = new WeakMap<pg.PoolClient, ScopedClient>()
  const appRole = new AppRole()
  const scopeOf = () => currentScope() ?? fallback
  return {
    connect: async () => {
      const client = await pool.connect()
      const known = clients.get(client)
      if (known !== undefined) return known
      const isDirect = await readSession(client)
      const scoped = scopeClient(client, { scopeOf, appRole, isDirect, statement_timeout_ms })
      clients.set(client, scoped)
      return scoped
    },
    end: () => pool.end(),
  }
}

/** The role of the service. It is read once, because it does not change. */
class AppRole {
  name: string | undefined
  #found: Promise<string> | undefined

  async find(client: pg.ClientBase): Promise<string> {
    this.#found ??= findAppRole(client).catch((error: unknown) => {
      this.#found = undefined
      throw error
    })
    this.name = await this.#found
    return this.name
  }
}

/** Closes the connection if it does not say. */
async function readSession(client: pg.PoolClient): Promise<boolean> {
  try {
    return await isDirectSession(client)
  } catch (error) {
    client.release(true)
    throw error
  }
}

type ClientOptions = {
  scopeOf: () => TenantScope | undefined
  appRole: AppRole
  isDirect: boolean
  statement_timeout_ms: number
}

function scopeClient(
  client: pg.PoolClient,
  { scopeOf, appRole, isDirect, statement_timeout_ms }: ClientOptions,
): ScopedClient {
  /** The scope in force in the open transaction; null without one. */
  let inForce: TenantScope | 'unset' | null = null
  /** The `begin` of a transaction that has run no statement. */
  let unsent: SideStatement | null = null
  /** Takes the name from a statement that the session cannot keep. */
  const keep = <Kind extends Statement | SideStatement>(statement: Kind): Kind =>
    isDirect ? statement : { ...statement, name: undefined }
  const takeUnsent = () => {
    const taken = unsent === null ? [] : [unsent]
    unsent = null
    return taken
  }
  /** Returns the statements before one of the scope, which is in force after them. */
  const enter = async (scope: TenantScope): Promise<SideStatement[]> => {
    if (inForce === scope) return []
    const isOwner = scope.kind === 'owner'
    if (isOwner && inForce === null && unsent === null) {
      // A partition is detached concurrently, which must not share a transaction. The setting stays
      // on the connection: it is the limit of every connection of the service.
      await client.query(`set statement_timeout = ${statement_timeout_ms}`)
      return []
    }
    const role = isOwner ? 'none' : (appRole.name ?? (await appRole.find(client)))
    // A change of the scope inside of a transaction keeps a limit that the work has set.
    const timeout_ms = inForce === null ? statement_timeout_ms : undefined
    if (unsent !== null || inForce !== null) inForce = scope
    return [...takeUnsent(), keep(preludeOf(scope, role, timeout_ms))]
  }
  const run = async (
    given: Statement,
    sides: { before?: SideStatement; after?: SideStatement } = {},
  ): Promise<PipelineResult> => {
    const statement = keep(given)
    const before = await enter(demand(scopeOf(), statement))
    if (sides.before !== undefined) before.push(keep(sides.before))
    const after = sides.after && keep(sides.after)
    if (before.length > 0 || after !== undefined || statement.name !== undefined) {
      return runPipeline(client, { before, statement, after })
    }
    return { result: await client.query(toConfig(statement)), rows_after: 0 }
  }
  /** A rollback to a savepoint also takes back a scope that was set after it. */
  const runControl = async (statement: Statement) => {
    inForce = 'unset'
    return (await runPipeline(client, { before: takeUnsent(), statement })).result
  }
  const end = async (text: string) => {
    const isSent = inForce !== null
    inForce = null
    unsent = null
    return isSent ? (await client.query(text)).command : undefined
  }
  return {
    query: async (statement) => {
      if (controlPattern.test(statement.text)) return runControl(statement)
      return (await run(statement)).result
    },
    begin: (text) => {
      demand(scopeOf(), { text })
      unsent = { text }
    },
    commit: async (last) => {
      if (last === undefined) return (await end('commit')) !== 'ROLLBACK'
      // In a failed transaction this statement fails too.
      await run({ text: 'commit' }, { before: last })
      inForce = null
      return true
    },
    rollback: async () => {
      await end('rollback')
    },
    queryBoth: (first, second) => run(first, { after: second }),
    release: (isBroken) => {
      const isOpen = inForce !== null
      inForce = null
      unsent = null
      client.release(isBroken ?? isOpen)
    },
  }
}

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

/** A statement that sets something until the end of the transaction. */
type Prelude = { name: string; text: string }

const prelude = (name: string, settings: readonly string[]): Prelude => ({
  name,
  text: `select ${settings.map((each, at) => `set_config('${each}', $${at + 1}, true)`).join(', ')}`,
})

/** Settings that the policies read; all of them each time, so that none is left from a session. */
const scopeSettings = [
  'role',
  'looptrace.scope',
  'looptrace.project_id',
  'looptrace.organization_id',
  'looptrace.chain_id',
]
/** Policies read the list in scopes of the kind `projects` only, so others leave it. */
const batchSettings = [...scopeSettings, 'looptrace.project_ids']
/**
 * Poolers refuse the time limit as a parameter of the connection, or ignore it, so the first
 * prelude of a transaction sets it.
 */
const limit = 'statement_timeout'
const preludes = {
  scope: prelude('tenant_scope', [...scopeSettings, limit]),
  batch: prelude('batch_scope', [...batchSettings, limit]),
  other_scope: prelude('other_tenant_scope', scopeSettings),
  other_batch: prelude('other_batch_scope', batchSettings),
}

/**
 * Returns the statement that sets the role and the scope until the end of the transaction, and the
 * time limit of its statements if there is one.
 */
export function preludeOf(
  scope: TenantScope | undefined,
  role: string,
  statement_timeout_ms?: number,
): Prelude & { values: string[] } {
  const kind = scope?.kind === 'owner' ? undefined : scope?.kind
  const project_id = scope?.kind === 'project' ? scope.project_id : ''
  const organization_id = scope?.kind === 'organization' ? scope.organization_id : ''
  const chain_id = (scope?.kind === 'project' && scope.organization_id) || ''
  const batch = scope?.kind === 'projects' ? [`{${scope.project_ids.join(',')}}`] : []
  const values = [role, kind ?? 'none', project_id, organization_id, chain_id, ...batch]
  const of = batch.length > 0 ? 'batch' : 'scope'
  if (statement_timeout_ms === undefined) return { ...preludes[`other_${of}`], values }
  return { ...preludes[of], values: [...values, String(statement_timeout_ms)] }
}
