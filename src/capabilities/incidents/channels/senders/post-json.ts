import { OutboundFailed, type OutboundReply } from '../../../../platform/outbound/index.ts'
import type { AttemptResult } from '../../messages/delivery.ts'
import type { SenderPorts, Sent } from './contract.ts'

/** Time of an attempt, from resolving the name to the last byte. */
const attempt_ms_max = 10_000

/** Bytes of an answer that are read. */
const answer_bytes_max = 256 * 1024

/** An answer of any status. */
export type Answered = Sent & { reply?: OutboundReply }

/**
 * Posts JSON to a receiver. A redirect is the answer. Never rejects except when the caller stops:
 * then the attempt has no outcome.
 */
export async function postJson(
  request: { url: string; body: string; headers?: Readonly<Record<string, string>> },
  { outbound, signal, timeout_ms = attempt_ms_max }: SenderPorts,
): Promise<Answered> {
  try {
    const reply = await outbound.send({
      url: request.url,
      method: 'POST',
      body: request.body,
      signal,
      headers: { 'content-type': 'application/json', ...request.headers },
      timeout_ms,
      cut_at_bytes: answer_bytes_max,
    })
    const { status } = reply
    const isAccepted = status >= 200 && status < 300
    const error = isAccepted ? null : `the receiver answered ${status}${redirectNote(status)}`
    return { result: toResult(reply), error, response: reply.body.toString('utf8'), reply }
  } catch (error) {
    if (!(error instanceof OutboundFailed) || error.code === 'aborted') throw error
    return { ...failureOf(error), response: '' }
  }
}

function redirectNote(status: number): string {
  return status >= 300 && status < 400 ? '; redirects are not followed' : ''
}

function toResult({ status, headers }: OutboundReply): AttemptResult {
  return { status, retry_after_s: retryAfterS(headers['retry-after']) }
}

/** Reads Retry-After in seconds. A date is not read: the schedule of retries applies. */
function retryAfterS(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : undefined
}

/** A refused name is attempted again, as an unknown one is: see `OutboundFailed.shown`. */
function failureOf(failure: OutboundFailed): Pick<Sent, 'result' | 'error' | 'log'> {
  const { code, message, shown: error } = failure
  if (failure.isNameRefused) return { result: { error: 'connection' }, error, log: message }
  if (code === 'refused') return { result: { refused: message }, error }
  return { result: { error: code === 'timeout' ? 'timeout' : 'connection' }, error }
}
