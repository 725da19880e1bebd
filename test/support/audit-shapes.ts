import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { accessToken } from './clients/api-reader.ts'
import type { FirstLogin } from './cluster.ts'
import { startCluster } from './cluster.ts'
import type { RestartableService } from './restartable-service.ts'
import { startSingleMachine } from './single-machine.ts'

/** An installation whose audit trail a test attacks. */
export type AuditShape = AsyncDisposable & {
  login: FirstLogin
  /** The process that serves the API. */
  api: RestartableService
  /** The process that seals reads, publishes checkpoints and streams records. */
  worker: RestartableService
  /** The output of both. */
  output(): string
  postgresUrl(): Promise<string>
}

/** Starts role `all`, or separate processes. */
export async function startAuditShape(
  kind: 'role all' | 'separate processes',
  env: Record<string, string>,
): Promise<AuditShape> {
  const all = { LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0', ...env }
  if (kind === 'role all') {
    const machine = await startSingleMachine({ env: all })
    const { login, service } = machine
    return {
      ...{ login, api: service, worker: service, output: () => service.output() },
      postgresUrl: () => machine.postgresUrl(),
      [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
    }
  }
  const cluster = await startCluster({ env: all })
  const { login, api, worker } = cluster
  return {
    ...{ login, api, worker, output: () => `${api.output()}\n${worker.output()}` },
    postgresUrl: async () => cluster.postgres.server().url,
    [Symbol.asyncDispose]: () => cluster.stop(),
  }
}

/** Runs statements as a person with access to the database. */
export async function withDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Calls of the administrator, who signs in again after a restart with other keys. */
export async function adminCalls(shape: Pick<AuditShape, 'api' | 'login'>) {
  const { login } = shape
  const token = await accessToken({ api_url: shape.api.base_url, login } as never)
  return async (method: string, path: string, body?: object, request_id?: string) => {
    const answer = await fetch(`${shape.api.base_url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-project-id': login.project_id,
        ...(request_id !== undefined && { 'x-request-id': request_id }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, text, json: () => JSON.parse(text) }
  }
}

/** A temporary folder for checkpoints and exports. */
export async function auditFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'looptrace-audit-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
