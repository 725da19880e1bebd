import { performance } from 'node:perf_hooks'
import { sleep } from '../../../../kernel/time.ts'
import type { Mailer } from '../../../../platform/mail/index.ts'
import type { Outbound } from '../../../../platform/outbound/index.ts'
import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'
import { type AfterAttempt, afterAttempt } from '../../messages/delivery.ts'
import type { Examples, IncidentDb } from '../../ports.ts'
import type { Sent } from '../senders/contract.ts'
import { send } from '../senders/send.ts'
import { type Claim, type ClaimSettings, claimMessages, extendClaim } from './claim.ts'
import { describe } from './describe.ts'
import { settleClaim } from './settle.ts'
import type { ChannelName } from './waiting-rows.ts'

/** Counters of notifications. */
type NotificationMeters = ReturnType<typeof notificationMeters>

/** Registers the metrics of notifications. */
export function notificationMeters(metrics: Metrics) {
  return {
    messages: metrics.counter({
      name: 'looptrace_notifications_total',
      help: 'Attempts to deliver messages about incidents, by outcome: delivered, retry, dead or superseded.',
      labels: ['outcome', 'type'],
    }),
    attempts: metrics.histogram({
      name: 'looptrace_notification_attempt_seconds',
      help: 'Time of an attempt to deliver messages, by type of the channel.',
      labels: ['type'],
      buckets: [0.05, 0.2, 1, 5, 10, 30],
    }),
    lag: metrics.histogram({
      name: 'looptrace_notification_lag_seconds',
      help: 'Time from the event of an incident to the delivery of its message.',
      buckets: [1, 2, 5, 15, 60, 300, 1800, 7200],
    }),
  }
}

/** Everything that an attempt needs. */
export type AttemptPorts = {
  db: IncidentDb
  outbound: Outbound
  mailer: Mailer
  logger: Logger
  meters: NotificationMeters
  settings: ClaimSettings
  random: () => number
  slack_api?: string | undefined
  examples?: Examples | undefined
  public_url?: string | undefined
  timeout_ms?: number | undefined
}

/** Time of an attempt: longer than two requests and a mail. The lease is extended meanwhile. */
const send_ms_max = 25_000

/**
 * Makes the next attempt of a channel: claims messages, sends them, and writes the outcome. Returns
 * whether there was something to do. When `stopping` aborts, the outcome is unknown, and the attempt
 * is repeated after the lease with the same id.
 */
export async function attemptNext(
  target: ChannelName,
  ports: AttemptPorts,
  stopping: AbortSignal,
): Promise<boolean> {
  const { db, meters, settings } = ports
  const claim = await claimMessages(db, target, settings)
  if (claim === undefined) return false
  const type = claim.stored?.type ?? 'unknown'
  meters.messages.inc({ outcome: 'superseded', type }, claim.superseded)
  if (claim.messages.length === 0) return false
  const started = performance.now()
  const sent = await keepingLease(claim, ports, async () =>
    sendClaim(
      await describe(claim, { ...ports, secret_key: settings.secret_key }),
      ports,
      stopping,
    ),
  )
  if (sent?.log !== undefined) {
    const about = { ...target, reason: sent.log }
    ports.logger.warn(about, 'the address of a channel cannot be used')
  }
  const duration_ms = Math.round(performance.now() - started)
  const now_ms = claim.now_ms + duration_ms
  const after = consequenceOf(claim, sent, ports.random())
  const error = 'unusable' in claim.channel ? claim.channel.unusable : (sent?.error ?? null)
  const settled = await settleClaim(db, claim, {
    after,
    error,
    now_ms,
    attempt: sent && { sent, duration_ms },
  })
  if (sent !== undefined) meters.attempts.observe({ type }, duration_ms / 1000)
  meters.messages.inc({ outcome: after.kind, type }, settled)
  if (after.kind === 'delivered') {
    for (const { message } of claim.messages) {
      meters.lag.observe(Math.max(0, now_ms - Date.parse(message.at)) / 1000)
    }
  }
  return true
}

/** Extensions of a lease in its time: one that fails leaves time for another. */
const extensionsPerLease = 3

/** Extends the lease of a claim while a task runs, so that the lease is short after a kill. */
async function keepingLease<T>(
  { claim_id }: Claim,
  { db, settings, logger }: AttemptPorts,
  task: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  const extending = (async () => {
    while (!ended.signal.aborted) {
      await sleep(settings.lease_ms / extensionsPerLease, ended.signal)
      if (ended.signal.aborted) return
      await extendClaim(db, claim_id, settings).catch((error: unknown) => {
        logger.warn({ err: error }, 'the lease of a delivery could not be extended')
      })
    }
  })()
  try {
    return await task()
  } finally {
    ended.abort()
    await extending
  }
}

async function sendClaim(
  { channel, messages, now_ms }: Claim,
  { outbound, mailer, slack_api, timeout_ms, logger }: AttemptPorts,
  stopping: AbortSignal,
): Promise<Sent | undefined> {
  if ('unusable' in channel) return undefined
  const late = AbortSignal.timeout(send_ms_max)
  const signal = AbortSignal.any([stopping, late])
  const ended = Promise.withResolvers<never>()
  const abort = () => ended.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const ports = { outbound, mailer, now_ms, signal, slack_api, timeout_ms }
    return await Promise.race([send(messages, channel, ports), ended.promise])
  } catch (error) {
    if (stopping.aborted) throw error
    const isLate = late.aborted
    // A message that cannot be formatted is dead after the last attempt, and does not block others.
    if (!isLate) logger.warn({ err: error, channel_id: channel.channel_id }, 'sending failed')
    return {
      result: { error: isLate ? 'timeout' : 'connection' },
      error: isLate ? 'the receiver did not answer in time' : 'sending failed in the service',
      response: '',
    }
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Returns the consequence for all messages of the attempt: that of the one attempted most often. */
function consequenceOf({ messages }: Claim, sent: Sent | undefined, random: number): AfterAttempt {
  if (sent === undefined || 'refused' in sent.result)
    return { kind: 'dead', disables_channel: false }
  const attempt = Math.max(1, ...messages.map((message) => message.attempt_since_resend))
  return afterAttempt(attempt, sent.result, random)
}
