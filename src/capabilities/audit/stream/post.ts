import {
  type Outbound,
  OutboundFailed,
  type OutboundReply,
  portsOf,
} from '../../../platform/outbound/index.ts'
import type { StreamReceiver } from './receiver.ts'

/** Answer of a receiver to one request. `content`: it refused what the body says. */
export type Answer =
  | { kind: 'accepted'; refused?: { records: number; reason: string } }
  | { kind: 'content'; status: number; retry_after_ms: number }
  | { kind: 'failed'; reason: FailureReason; detail: string; retry_after_ms: number }

export type FailureReason = 'status' | 'connection' | 'timeout' | 'guard'

export type PostOptions = {
  outbound: Outbound
  receiver: StreamReceiver
  timeout_ms: number
  now_ms: number
  signal: AbortSignal
  /** Failed requests before this one. */
  attempts: number
}

/** Sends one message of encoded records. Rejects only if the signal aborts. */
export async function post(
  { id, encoded }: { id: string; encoded: readonly (string | Uint8Array)[] },
  { outbound, receiver, timeout_ms, now_ms, signal, attempts }: PostOptions,
): Promise<Answer> {
  const { url } = receiver
  try {
    const reply = await outbound.send({
      url,
      method: 'POST',
      ...receiver.toMessage(encoded, { id, now_ms }),
      timeout_ms,
      cut_at_bytes: answer_bytes_max,
      public_ports: portsOf(url),
      signal,
    })
    const { status } = reply
    if (isAccepted(reply)) {
      const refused = receiver.readRefused?.(reply)
      return { kind: 'accepted', ...(refused && { refused }) }
    }
    const retry_after_ms = retryAfterMs(reply)
    if (refusesContent(status, attempts)) return { kind: 'content', status, retry_after_ms }
    return { kind: 'failed', reason: 'status', detail: answered(status), retry_after_ms }
  } catch (error) {
    if (!(error instanceof OutboundFailed) || error.code === 'aborted') throw error
    const reason = reasons[error.code] ?? 'connection'
    return { kind: 'failed', reason, detail: error.message, retry_after_ms: 0 }
  }
}

/** Describes a refusal for the log. */
export function answered(status: number): string {
  return `the receiver answered ${status}`
}

const reasons: Partial<Record<OutboundFailed['code'], FailureReason>> = {
  refused: 'guard',
  timeout: 'timeout',
}

/** Maximum wait that a receiver can ask for. */
const maxRetryAfterMs = 10 * 60_000

const answer_bytes_max = 64 * 1024

/** Statuses that refuse the content of a body: the next body is smaller. */
const contentStatuses = [400, 413, 422]

/** Statuses that are never about the content: missing credentials, time-outs, limits of rates. */
const callerStatuses = [401, 407, 408, 425, 429]

/**
 * Failed requests after which other statuses count as a refusal of the content too. A firewall in
 * front of a receiver refuses a body with 403, for example, as a receiver does with an old token.
 */
const unclear_attempts = 3

function refusesContent(status: number, attempts: number): boolean {
  if (contentStatuses.includes(status)) return true
  const isUnclear = status >= 400 && status < 500 && !callerStatuses.includes(status)
  return isUnclear && attempts >= unclear_attempts
}

/** A page in HTML is the answer of a proxy or a sign-in page, not of a receiver. */
function isAccepted({ status, headers }: OutboundReply): boolean {
  const isPage = String(headers['content-type'] ?? '').startsWith('text/html')
  return status >= 200 && status < 300 && !isPage
}

/** Reads Retry-After in seconds. A date is not read: the schedule of retries applies. */
function retryAfterMs({ headers }: OutboundReply): number {
  const header = headers['retry-after']
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header)) return 0
  return Math.min(Number(header) * 1_000, maxRetryAfterMs)
}
