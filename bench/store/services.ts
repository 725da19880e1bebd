import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ArchiveTables,
  type HotTables,
  type JobTables,
  openRelational,
  type Relational,
  type RetentionTables,
  startEmbeddedPostgres,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import { startNatsServer } from '../../test/support/nats.ts'
import { runRole, startService } from '../../test/support/service.ts'
import type { BenchEngine } from './engine.ts'
import { projectOf, projects } from './generated-rows.ts'

/** The services beside the engine: PostgreSQL, nats-server and the `api` role, each a process. */
export type BenchServices = AsyncDisposable & {
  /** For files; removed at the end. */
  directory: string
  relational: Relational<ArchiveTables & HotTables & JobTables & RetentionTables>
  /** Sends a request about a project to the api; returns the JSON of a 200. */
  post(path: string, project_id: string, body: object): Promise<Record<string, unknown>>
}

/** Starts them on free loopback ports; the engine must not `forget` until they are stopped. */
export async function startServices(engine: BenchEngine): Promise<BenchServices> {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-services-'))
  // Under root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const logger = createLogger({ role: 'bench', level: 'error' })
  const postgres = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), logger })
  parts.defer(() => postgres.stop())
  const nats = await startNatsServer({ directory: join(directory, 'nats') })
  parts.defer(() => nats.stop())
  const settings = {
    ...engine.settings(),
    LOOPTRACE_POSTGRES_URL: postgres.url,
    LOOPTRACE_NATS_URL: nats.url,
    LOOPTRACE_SECRET_KEY: 'a secret key of the bench, long enough',
    LOOPTRACE_DATA_DIRECTORY: join(directory, 'api'),
    LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
    LOOPTRACE_GRACE_PERIOD_MS: '5000',
  }
  const login = firstLoginIn(await runRole('migrate', settings))
  const relational = openRelational<ArchiveTables & HotTables & JobTables & RetentionTables>({
    scope: allTenants,
    url: postgres.url,
    pool_max: 8,
    connect_timeout_ms: 10_000,
    statement_timeout_ms: 300_000,
    logger,
  })
  parts.defer(() => relational.close())
  await makeProjects(relational, login.organization_id)
  const api = await startService('api', settings)
  parts.defer(async () => void (await api.stop()))
  const token = await signIn(api.base_url, login)
  const all = parts.move()
  return {
    directory,
    relational,
    post: (path, project_id, body) =>
      post(`${api.base_url}${path}`, body, {
        authorization: `Bearer ${token}`,
        'x-project-id': project_id,
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

type Login = { organization_id: string; admin_email: string; admin_password: string }

function firstLoginIn({ status, output }: { status: number | null; output: string }): Login {
  const line = output.split('\n').find((text) => text.startsWith('{"first_login"'))
  if (status !== 0 || line === undefined) throw new Error(`role migrate failed:\n${output}`)
  return JSON.parse(line).first_login
}

/** Creates the projects of the generated observations, in the first login's organization. */
async function makeProjects({ pool }: Pick<BenchServices['relational'], 'pool'>, owner: string) {
  const ids = Array.from({ length: projects }, (_, at) => projectOf(at))
  await pool.query(
    `insert into projects (id, organization_id, name)
     select id, $2::uuid, id::text from unnest($1::uuid[]) as id`,
    [ids, owner],
  )
}

async function signIn(base_url: string, { admin_email, admin_password }: Login): Promise<string> {
  const body = { grant_type: 'password', username: admin_email, password: admin_password }
  return String((await post(`${base_url}/api/v1/auth/token`, body))['access_token'])
}

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url}: got ${answer.status}, expected 200: ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}
