import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { openOutbound, parseAllowedNetwork } from '../../src/platform/outbound/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { openAudit } from '../../src/roles/audit.ts'
import type { Stores } from '../../src/roles/stores.ts'
import { auditEntry, streamConfig, streamLimits } from '../support/audit-streams.ts'
import { makeCertificate } from '../support/certificate.ts'
import { hostileAnswers } from '../support/hostile-answers.ts'
import { type OutboxBench, openOutboxBench } from '../support/outbox-bench.ts'
import { type RawUpstream, rawUpstream } from '../support/raw-upstream.ts'
import { quarterOf } from '../support/suite/budget.ts'

/** Servers that receive data from the product, and attack it with their answers. */

let answer: Parameters<typeof rawUpstream>[0]
let server: RawUpstream
let port: number
let bench: OutboxBench
const clock = { ahead_ms: 0, now_ms: () => Date.now() + clock.ahead_ms }

beforeAll(async () => {
  server = await rawUpstream((socket, number) => answer(socket, number))
  port = Number(new URL(server.base_urls.openai).port)
  bench = await openOutboxBench({ ports: [port] })
  bench.ports.timeout_ms = 1_000
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  clock.ahead_ms += 3 * 60 * 60 * 1000
})

const url = () => `http://127.0.0.1:${port}/hook`
const db = () => bench.api.db as unknown as Stores['db']

/** Opens the worker's part of the audit trail. The result runs one of its chores. */
function openChores(settings: object): (chore: string) => Promise<void> {
  const context = { clock, parts: new AsyncDisposableStack(), metrics: createMetrics() }
  const config = {
    ...streamConfig({ outbound_allowed: `127.0.0.1/32:${port}` }),
    ...{ audit_checkpoint_poll_ms: 1_000, audit_days: 0, secret_key: 'x'.repeat(32), ...settings },
  }
  const ports = { db: db(), limits: streamLimits }
  const { chores } = openAudit({ ...context, logger } as never, config as never, ports)
  return async (name) => {
    const chore = chores.find((one) => one.name.startsWith(name))
    await chore?.run(new AbortController().signal)
  }
}

const logger = createLogger({ role: 'test', level: 'silent' })
type Outcome = 'accepted' | 'failed'
const outcome = (isAccepted: boolean): Outcome => (isAccepted ? 'accepted' : 'failed')

/** Sends one message through each part of the product that sends. Returns what became of it. */
const senders: Record<string, () => Promise<Outcome>> = {
  'the webhook of the audit stream': async () => {
    await openAuditTrail(db()).append(auditEntry())
    await openChores({ audit_stream_webhook_url: url() })('stream')
    const waits = db().selectFrom('audit_streams').select('attempts').executeTakeFirstOrThrow()
    return outcome((await waits).attempts === 0)
  },
  'the OTLP logs of the audit stream': async () => {
    await openAuditTrail(db()).append(auditEntry())
    await openChores({ audit_stream_otlp_url: url() })('stream')
    const waits = db().selectFrom('audit_streams').select('attempts').where('name', '=', 'otlp')
    return outcome((await waits.executeTakeFirstOrThrow()).attempts === 0)
  },
  'the sink of checkpoints': async () => {
    await openAuditTrail(db()).append(auditEntry())
    const run = openChores({ audit_checkpoint_sinks: url() })
    await run('sign audit checkpoints').catch(() => undefined)
    const waiting = db().selectFrom('audit_checkpoints').where('published_at', 'is', null)
    return outcome((await waiting.select('seq').execute()).length === 0)
  },
  'a webhook channel of incidents': async () => {
    const name = `hook-${server.connections()}`
    const secrets = { url: url(), secret: `whsec_${Buffer.alloc(32).toString('base64')}` }
    await bench.addChannel(name, 'webhook', { secrets })
    const incident_id = await bench.addIncident()
    await bench.addMessage({ incident_id, channel: name })
    await bench.drain()
    return outcome((await bench.states(incident_id))[0]?.endsWith(': delivered') ?? false)
  },
}

/** Bytes that the buffers of two sockets take of an answer that nobody reads (4 MiB), with room. */
const maxTakenBytes = 16 * 2 ** 20

/** Each answer to each sender; all of them use one client, which the requests below try whole. */
const attacks = Object.entries(senders).flatMap(([sender, send]) =>
  hostileAnswers.map((one) => ({ ...one, sender, send })),
)

describe('a sender', () => {
  test.each(quarterOf(attacks))('$sender survives $name', async (attacked) => {
    const { outcome: expected, answer: attack, send } = attacked
    let taken = () => 0
    answer = (socket) => {
      taken = () => socket.bytesWritten - socket.writableLength
      attack(socket)
    }
    const started = performance.now()
    expect(await send()).toBe(expected)
    expect(performance.now() - started).toBeLessThan(8_000)
    // An accepted answer was not read to its end. Of the others, a time limit ends the reading.
    if (expected === 'accepted') expect(taken()).toBeLessThan(maxTakenBytes)
    answer = (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    clock.ahead_ms += 60 * 60 * 1000
    bench.time.ahead_ms += 60 * 60 * 1000
    expect(await send()).toBe('accepted')
  })
})

describe('a request whose answer is needed, such as that to a judge', () => {
  test.each(hostileAnswers)('ends soon with $name', async ({ answer: attack }) => {
    answer = attack
    const outbound = openOutbound({ allowed: [parseAllowedNetwork(`127.0.0.1/32:${port}`)] })
    const limits = { bytes: 65_536, decoded_bytes: 65_536 }
    const ended = await outbound
      .send({ url: url(), method: 'POST', body: '{}', timeout_ms: 500, limits })
      .then(({ status, body }) => ({ status, bytes: body.length }))
      .catch(({ code }: { code: unknown }) => ({ code }))
    expect([
      { status: 200, bytes: 0 },
      { status: 307, bytes: 0 },
      ...['connection', 'timeout', 'too_large'].map((code) => ({ code })),
    ]).toContainEqual(ended)
  })
})

describe('certificates', () => {
  const defaults = getCACertificates()
  afterEach(() => setDefaultCACertificates(defaults))

  test.each<[string, Outcome, { trusted: boolean; name: string; isExpired?: boolean }]>([
    ['a valid one', 'accepted', { trusted: true, name: 'siem.test' }],
    ['one of an unknown issuer', 'failed', { trusted: false, name: 'siem.test' }],
    ['one of another name', 'failed', { trusted: true, name: 'other.test' }],
    ['an expired one', 'failed', { trusted: true, name: 'siem.test', isExpired: true }],
  ])('%s is %s', async (_, expected, { trusted, name, isExpired = false }) => {
    const certificate = makeCertificate(name, { isExpired })
    let requests = 0
    await using parts = new AsyncDisposableStack()
    const listening = createTlsServer(certificate, (_request, response) => {
      requests += 1
      response.end('ok')
    })
    parts.defer(() => void listening.close())
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', () => resolve()))
    const { port: tlsPort } = listening.address() as AddressInfo
    if (trusted) setDefaultCACertificates([...defaults, certificate.cert])
    const outbound = openOutbound({
      allowed: [parseAllowedNetwork(`127.0.0.1/32:${tlsPort}`)],
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    })
    const sent = await outbound
      .send({ url: `https://siem.test:${tlsPort}/`, method: 'POST', body: 'secret' })
      .then(({ status }) => outcome(status === 200))
      .catch(() => 'failed')
    expect([sent, requests]).toEqual([expected, expected === 'accepted' ? 1 : 0])
  })
})
