import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { z } from 'zod'
import {
  type Access,
  type AccessOptions,
  accessRoutes,
  authorizer,
  type BootstrapSecrets,
  bootstrap,
  createPasswordHasher,
  createPasswordStrength,
  isInstallationAdmin,
  mintGivenSecrets,
  openAccess,
} from '../../src/capabilities/access/index.ts'
import {
  auditRoutes,
  openAuditTrail,
  openReadJournal,
  type ReadJournal,
} from '../../src/capabilities/audit/index.ts'
import { linkPages } from '../../src/capabilities/link-pages/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import {
  createHttpServer,
  defineRoute,
  type HttpServer,
  type Route,
  type RouteAuth,
  type RouteScope,
} from '../../src/platform/http/index.ts'
import { openOutbound } from '../../src/platform/outbound/index.ts'
import {
  type AccessTables,
  type AuditTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
} from '../../src/platform/relational/index.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { testPostgres } from './postgres.ts'

/** Sign-in and access control as a server runs them, on a database of the test's own. */
export type AccessApp = {
  server: HttpServer
  access: Access
  relational: Relational<AccessTables & AuditTables>
  /** Reads of content that are not in PostgreSQL yet. */
  journal: ReadJournal
  /** The folder of journals. */
  journals: string
  /** Results of the first start. */
  first: BootstrapSecrets
  /** The operator's key. */
  operator_key: string
  /** The server's clock; a test may advance it. */
  clock: { now_ms: () => number; ahead_ms: number }
  /** All log lines so far. */
  logged(): string
  call(method: Method, url: string, more?: Call): Promise<Reply>
  /** Signs in with a password and returns an access token. */
  signIn(email: string, password: string): Promise<string>
  /** Invites a person who has no account and accepts; returns an access token. */
  person(email: string, role: string, organization_id?: string): Promise<Person>
  close(): Promise<void>
}

export type Person = { user_id: string; token: string }
export type Reply = { status: number; body: Json; headers: Record<string, unknown>; text: string }
/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Call = {
  token?: string | undefined
  key?: string
  body?: unknown
  headers?: Record<string, string>
  /** Address of the peer; loopback by default. */
  from?: string
}

/** Returns the status of a reply and the code of its error, if it is one. */
export const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body?.code,
]

/** Calls with a person's token. `as` is read at each call, so that it may be set in `beforeAll`. */
export function callsAs(as: () => { app: AccessApp; token: string }) {
  const call =
    (method: Method) =>
    (url: string, body?: unknown, more: Call = {}) => {
      const { app, token } = as()
      return app.call(method, url, { token, body, ...more })
    }
  return {
    get: (url: string, more: Call = {}) => call('GET')(url, undefined, more),
    post: call('POST'),
    put: call('PUT'),
    remove: (url: string, more: Call = {}) => call('DELETE')(url, undefined, more),
  }
}

/** Fast hashes; the default ones are tested with the hasher. */
export const quickPasswords = createPasswordHasher({ cost_log2: 4 })

/** The check of new passwords of this worker, whose thread ends by itself. */
export const sharedStrength = { ...createPasswordStrength(), close: async () => undefined }

/** A second process: separate caches, the same store. */
export type AppOptions = Partial<AccessOptions> & {
  database_url?: string
  trusted_proxies?: readonly string[]
  /** The folder of journals, which outlives the app; by default one of its own. */
  journal_folder?: string
  /** Further routes of the server. */
  routes?: readonly Route[]
}

/** Starts the app; `bootstrap` runs only on its own database. */
export async function startAccessApp(options: AppOptions = {}): Promise<AccessApp> {
  const url = options.database_url ?? (await testPostgres())
  const lines: string[] = []
  const logger = pino(
    { level: 'trace' },
    new Writable({
      write: (line, _encoding, done) => {
        lines.push(String(line))
        done()
      },
    }),
  )
  const clock = { ahead_ms: 0, now_ms: () => systemClock.now_ms() + clock.ahead_ms }
  const relational = openRelational<AccessTables & AuditTables>({
    scope: allTenants,
    url,
    pool_max: 8,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 10_000,
    logger,
  })
  const { db } = relational
  const access = openAccess({
    db,
    clock,
    logger,
    secret_key: 'a secret of at least 32 characters',
    passwords: quickPasswords,
    strength: sharedStrength,
    outbound: openOutbound({ allowed: [], trusted_hosts: ['127.0.0.1'] }),
    ...options,
  })
  const own_folder = await mkdtemp(join(tmpdir(), 'looptrace-access-app-'))
  const folder = options.journal_folder ?? join(own_folder, 'audit-reads')
  const metrics = createMetrics()
  const journal = await openReadJournal({ db, folder, logger, metrics })
  const { operator_key } = mintGivenSecrets()
  const first = await bootstrap({ db, clock, passwords: quickPasswords, operator_key })
  const isAdmin = (user_id: string) => isInstallationAdmin(db, user_id)
  const audited = auditRoutes({ db, clock, isInstallationAdmin: isAdmin })
  const server = await createHttpServer({
    routes: [...[accessRoutes(access), linkPages(), audited, probes, options.routes ?? []].flat()],
    authorize: authorizer(access),
    audit: openAuditTrail(db, journal),
    audit_refusals_per_minute_max: 0,
    idempotency: openIdempotencyStore(db),
    logger,
    metrics,
    clock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 5_000,
    keep_alive_ms: 1_000,
    check_replies: true,
    trusted_proxies: options.trusted_proxies ?? [],
  })
  const nobody = { organization_id: '', project_id: '', admin_email: '', admin_password: '' }
  return driven({
    ...{ server, access, relational, journal, own_folder, journals: folder },
    first: first ?? { ...nobody, project_key: '' },
    operator_key,
    clock,
    logged: () => lines.join(''),
  })
}

type Started = Omit<AccessApp, 'call' | 'signIn' | 'person' | 'close'> & { own_folder: string }

function driven(app: Started): AccessApp {
  const call = (method: Method, url: string, more: Call = {}) => send(app.server, method, url, more)
  const signIn = async (email: string, password: string) => {
    const body = { grant_type: 'password', username: email, password }
    const reply = await call('POST', '/api/v1/auth/token', { body })
    if (reply.status !== 200) throw new Error(`no sign-in for ${email}: ${reply.text}`)
    return String(reply.body.access_token)
  }
  let owner: Promise<string> | undefined
  return {
    ...app,
    call,
    signIn,
    person: async (email, role, organization_id = app.first.organization_id) => {
      owner ??= signIn(app.first.admin_email, app.first.admin_password)
      const token = await owner
      const password = 'correct horse battery'
      const invited = await call(
        'POST',
        `/api/v2/access/organizations/${organization_id}/members`,
        {
          token,
          body: { email, role },
        },
      )
      if (invited.status !== 201) throw new Error(`no invitation of ${email}: ${invited.text}`)
      const accepted = await call('POST', '/api/v1/auth/invitations/accept', {
        body: { token: invited.body.token, display_name: email, password },
      })
      if (accepted.status !== 201) throw new Error(`no person ${email}: ${accepted.text}`)
      const { user_id, tokens } = accepted.body
      return { user_id, token: tokens.access_token }
    },
    close: async () => {
      await app.server.close()
      await app.access.close()
      await app.journal.close()
      await app.relational.close()
      await rm(app.own_folder, { recursive: true })
    },
  }
}

async function send(
  server: HttpServer,
  method: Method,
  url: string,
  { token, key, body, headers = {}, from }: Call,
): Promise<Reply> {
  const reply = await server.inject({
    method,
    url,
    ...(from !== undefined && { remoteAddress: from }),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'x-api-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
  return {
    status: reply.statusCode,
    body: String(reply.headers['content-type']).includes('json')
      ? parsed(reply.payload)
      : undefined,
    headers: reply.headers,
    text: reply.payload,
  }
}

/** Lines of JSON stay text. */
const parsed = (text: string): Json =>
  text === '' || text.includes('}\n{') ? undefined : JSON.parse(text)

/** Routes that return the caller, one for each kind of access. */
const probes: Route[] = [
  probe('/probe/key', 'key', { level: 'project', role: 'viewer', key: 'ingest:write' }),
  probe('/probe/either', 'jwt_or_key', { level: 'project', role: 'viewer', key: 'tasks:read' }),
  probe('/probe/editor', 'jwt_or_key', { level: 'project', role: 'editor', key: 'query:run' }),
  probe('/probe/jwt', 'jwt', { level: 'project', role: 'viewer', key: 'access:read' }),
  probe(
    '/probe/change',
    'jwt_or_key',
    { level: 'project', role: 'editor', key: 'query:run' },
    'POST',
  ),
  probe('/probe/people', 'jwt_or_key', { level: 'project', role: 'viewer', key: null }),
  probe('/probe/organization', 'jwt', { level: 'organization', role: 'admin' }),
  probe('/probe/user', 'jwt', { level: 'user' }),
  probe('/probe/operator', 'jwt', {
    ...{ level: 'project', role: 'admin', key: null, operator: true },
  }),
  probe('/probe/operator-list', 'jwt', { level: 'user', operator: true }),
]

function probe(
  url: string,
  auth: RouteAuth,
  scope: RouteScope,
  method: 'GET' | 'POST' = 'GET',
): Route {
  return defineRoute({
    method,
    url,
    id: url,
    summary: 'Answers who called',
    auth,
    scope,
    reply: z.unknown(),
    errors: [],
    handle: async ({ caller }) => caller,
  })
}
