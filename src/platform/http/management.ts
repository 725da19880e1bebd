import { createServer } from 'node:http'
import type { Logger, Metrics } from '../telemetry/index.ts'
import { runInInstallation } from '../tenancy/index.ts'
import { hostFault } from './host-header.ts'
import { addressTaken } from './listen-error.ts'
import { securityHeaders } from './security-headers.ts'

/**
 * A condition of readiness. `check` resolves to null, or to the reason why it fails. The failure of
 * one with `is_advisory` is shown, and does not make the process unready.
 */
export type HealthCheck = {
  name: string
  check: () => Promise<string | null>
  is_advisory?: true
}

export type ManagementServer = {
  port: number
  /** Makes `/readyz` answer 503, so that load balancers send no new traffic. */
  stopping(): void
  close(): Promise<void>
}

/** Time after which a check counts as failed. */
const checkTimeoutMs = 2_000

/**
 * Serves `/livez` (the process runs; independent of the stores), `/readyz` (every check passes) and
 * `/metrics` on a separate port, so that they work under load and are not exposed to clients.
 */
export async function createManagementServer(options: {
  host: string
  port: number
  checks: readonly HealthCheck[]
  metrics: Metrics
  logger: Logger
}): Promise<ManagementServer> {
  let stopping = false
  const answers: Record<string, () => Promise<Reply>> = {
    '/livez': async () => textReply(200, 'ok'),
    '/readyz': async () => (stopping ? textReply(503, 'stopping') : runChecks(options.checks)),
    '/metrics': async () => {
      const { content_type, body } = await options.metrics.expose()
      return { status: 200, content_type, body }
    },
  }
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const fault = hostFault(request.rawHeaders)
    if (fault !== undefined) {
      response.writeHead(fault.status, securityHeaders).end(`${fault.message}\n`)
      return
    }
    const reply = await runInInstallation('metrics and health of all projects', () =>
      answer(answers[path], options.logger),
    )
    response.writeHead(reply.status, { ...securityHeaders, 'content-type': reply.content_type })
    response.end(reply.body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  }).catch(addressTaken(options.host, options.port))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    stopping: () => {
      stopping = true
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Reply = { status: number; content_type: string; body: string }

function textReply(status: number, body: string): Reply {
  return { status, content_type: 'text/plain; charset=utf-8', body: `${body}\n` }
}

async function answer(make: (() => Promise<Reply>) | undefined, logger: Logger): Promise<Reply> {
  if (make === undefined) return textReply(404, 'expected /livez, /readyz or /metrics')
  try {
    return await make()
  } catch (error) {
    logger.error({ err: error }, 'a management request failed')
    return textReply(500, 'failed')
  }
}

async function runChecks(checks: readonly HealthCheck[]): Promise<Reply> {
  const lines = await Promise.all(
    checks.map(async ({ check, ...rest }) => ({ ...rest, fault: await withTimeout(check) })),
  )
  const ready = lines.every(({ fault, is_advisory }) => fault === null || is_advisory)
  return textReply(
    ready ? 200 : 503,
    lines
      .map(
        ({ name, fault, is_advisory }) =>
          `${wordOf(fault, is_advisory)} ${name}${fault ? `: ${fault}` : ''}`,
      )
      .join('\n') || 'ok',
  )
}

function wordOf(fault: string | null, is_advisory: true | undefined): string {
  if (fault === null) return 'ok'
  return is_advisory ? 'warn' : 'no'
}

async function withTimeout(check: HealthCheck['check']): Promise<string | null> {
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`no answer in ${checkTimeoutMs} ms`), checkTimeoutMs).unref()
  })
  return Promise.race([check().catch((error: unknown) => String(error)), late])
}
