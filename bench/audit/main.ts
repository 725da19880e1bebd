import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import {
  accessRoutes,
  authorizer,
  bootstrap,
  createPasswordHasher,
  openAccess,
} from '../../src/capabilities/access/index.ts'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { sleep, systemClock } from '../../src/kernel/time.ts'
import { createHttpServer, defineRoute, type HttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type AuditTables,
  migrateRelational,
  openIdempotencyStore,
  openRelational,
  startEmbeddedPostgres,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'

/**
 * `npm run bench:audit`: what audit records cost. Changes of one organization (the worst case: all
 * wait for one chain) at 10,000 a minute and as fast as eight callers can, and reads of content of
 * 10 ms, each with and without the trail, in alternating rounds.
 */
const perMinute = 10_000
const paced_ms = 4_000
const rounds = 3
const callers = 8

const logger = createLogger({ role: 'bench', level: 'silent' })
const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-audit-'))
// Under root, PostgreSQL runs as another user, who needs access to this folder.
await chmod(directory, 0o711)
const postgres = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), logger })
await migrateRelational({ url: postgres.url, logger })
const relational = openRelational<AccessTables & AuditTables>({
  scope: allTenants,
  ...{ url: postgres.url, pool_max: 16, connect_timeout_ms: 5_000, statement_timeout_ms: 10_000 },
  logger,
})
const { db } = relational
const clock = systemClock
const passwords = createPasswordHasher({ cost_log2: 4 })
const first = await bootstrap({ db, clock, passwords })
if (first === null) throw new Error('the database is not empty')
const access = openAccess({
  ...{ db, clock, logger, passwords, token_issuer: 'looptrace', token_ttl_ms: 3_600_000 },
  secret_key: 'a secret of at least 32 characters',
})

const content = defineRoute({
  method: 'GET',
  url: '/content/{id}',
  id: 'readContent',
  summary: 'Waits 10 ms, as a store does',
  audit: 'content',
  auth: 'jwt',
  scope: { level: 'project', role: 'viewer', key: null },
  params: z.strictObject({ id: z.string() }),
  reply: z.unknown(),
  errors: [],
  handle: async ({ params }) => {
    await sleep(10)
    return params
  },
})

const open = (isAudited: boolean): Promise<HttpServer> =>
  createHttpServer({
    routes: [...accessRoutes(access), content],
    authorize: authorizer(access),
    ...(isAudited && { audit: openAuditTrail(db) }),
    idempotency: openIdempotencyStore(db),
    ...{ logger, metrics: createMetrics(), clock, body_bytes_max: 1_000_000 },
    ...{ header_bytes_max: 16_384, rate_per_minute_max: 0, request_timeout_ms: 5_000 },
    keep_alive_ms: 1_000,
  })
const servers = { none: await open(false), audited: await open(true) }
const signedIn = await servers.none.inject({
  ...{ method: 'POST', url: '/api/v1/auth/token' },
  payload: { grant_type: 'password', username: first.admin_email, password: first.admin_password },
})
const headers = { authorization: `Bearer ${signedIn.json().access_token}` }
const { project_id } = first

let calls = 0
const call = async (server: HttpServer, kind: 'write' | 'read') => {
  const started = performance.now()
  const reply = await (kind === 'write'
    ? server.inject({
        ...{ method: 'PUT', url: `/api/v2/access/projects/${project_id}/environments`, headers },
        payload: { environments: [`e${++calls}`] },
      })
    : server.inject({ method: 'GET', url: `/content/1?project_id=${project_id}`, headers }))
  if (reply.statusCode !== 200) throw new Error(reply.payload)
  return performance.now() - started
}

/** Calls at a pace, and returns latencies and the processor time of this process for a call. */
async function paced(server: HttpServer, kind: 'write' | 'read') {
  const cpu = process.cpuUsage()
  const started = performance.now()
  const pending: Promise<number>[] = []
  for (;;) {
    const at = performance.now() - started
    if (at >= paced_ms) break
    while (pending.length < (at / 60_000) * perMinute) pending.push(call(server, kind))
    await sleep(1)
  }
  const latencies = await Promise.all(pending)
  const { user, system } = process.cpuUsage(cpu)
  return { latencies, cpu_us: (user + system) / latencies.length }
}

async function flatOut(server: HttpServer) {
  const until = performance.now() + paced_ms
  let done = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        await call(server, 'write')
        done++
      }
    }),
  )
  return done / (paced_ms / 1_000)
}

const quantile = (values: readonly number[], q: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * q)] ?? 0

for (const kind of ['write', 'read'] as const) {
  const found = { none: { ms: [] as number[], cpu: 0 }, audited: { ms: [] as number[], cpu: 0 } }
  for (let round = 0; round < rounds; round++) {
    for (const name of ['none', 'audited'] as const) {
      const { latencies, cpu_us } = await paced(servers[name], kind)
      found[name].ms.push(...latencies)
      found[name].cpu += cpu_us / rounds
    }
  }
  for (const [name, { ms, cpu }] of Object.entries(found)) {
    const [p50, p95] = [0.5, 0.95].map((q) => quantile(ms, q).toFixed(2))
    console.log(`${kind} ${name}: p50 ${p50} ms, p95 ${p95} ms, ${cpu.toFixed(0)} µs of processor`)
  }
}
for (const name of ['none', 'audited', 'none', 'audited'] as const) {
  console.log(`as fast as possible, ${name}: ${Math.round(await flatOut(servers[name]))} writes/s`)
}

await Promise.all([servers.none.close(), servers.audited.close()])
await access.close()
await relational.close()
await postgres.stop()
await rm(directory, { recursive: true })
