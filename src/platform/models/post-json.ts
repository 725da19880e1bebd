import { backOff } from '../../kernel/back-off.ts'
import { parsedJson } from '../../kernel/json-values.ts'
import { sleep } from '../../kernel/time.ts'
import {
  type Outbound,
  OutboundFailed,
  type OutboundFailure,
  type OutboundReply,
  portsOf,
} from '../outbound/index.ts'
import { ModelFailed, type ModelSettings } from './model.ts'

/** Maximum bytes of a reply, as sent and as decoded; a longer one fails. */
const reply_bytes_max = 4 * 2 ** 20

const attempts_max = 3
const retry = { base_ms: 250, max_ms: 5_000, jitter: 0.5 }
/** Maximum wait that a model may ask for by Retry-After. */
const wait_ms_max = 10_000

/** JSON of a reply; undefined for anything else. */
export type ModelReply = { status: number; json: unknown }

type Endpoint = Pick<ModelSettings, 'name' | 'api_key' | 'timeout_ms'> & { url: string }

/**
 * Posts JSON to a model. Repeats a request that the model refused as busy (429), failed (5xx) or
 * did not receive, at most twice, with a back-off. Redirects are not followed. Rejects with
 * ModelFailed, or with the reason of the signal.
 */
export async function postJson(
  outbound: Outbound,
  endpoint: Endpoint,
  body: unknown,
  signal: AbortSignal,
): Promise<ModelReply> {
  const text = JSON.stringify(body)
  for (let attempt = 1; ; attempt += 1) {
    const sent = await send(outbound, endpoint, text, signal)
    const wait_ms = attempt < attempts_max ? findWait(sent, attempt) : undefined
    if (wait_ms === undefined) return toReply(endpoint, sent)
    await sleep(wait_ms, signal)
    signal.throwIfAborted()
  }
}

type Sent = OutboundReply | OutboundFailed

async function send(
  outbound: Outbound,
  { url, api_key, timeout_ms }: Endpoint,
  body: string,
  signal: AbortSignal,
): Promise<Sent> {
  try {
    return await outbound.send({
      url,
      method: 'POST',
      body,
      timeout_ms,
      signal,
      headers: {
        'content-type': 'application/json',
        ...(api_key !== undefined && { authorization: `Bearer ${api_key}` }),
      },
      // The configuration names the server.
      public_ports: portsOf(url),
      limits: { bytes: reply_bytes_max, decoded_bytes: reply_bytes_max },
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof OutboundFailed)) throw error
    return error
  }
}

/** Returns the wait before the next attempt; undefined when the result is final. */
function findWait(sent: Sent, attempt: number): number | undefined {
  const wait_ms = backOff(retry, attempt)
  if (sent instanceof OutboundFailed) {
    return sent.code === 'connection' && !sent.reached ? wait_ms : undefined
  }
  if (sent.status !== 429 && sent.status < 500) return undefined
  const after = sent.headers['retry-after']
  const asked_ms = typeof after === 'string' && /^\d{1,6}$/.test(after) ? Number(after) * 1_000 : 0
  return asked_ms > wait_ms_max ? undefined : Math.max(wait_ms, asked_ms)
}

const reasons: Readonly<Record<OutboundFailure, string>> = {
  refused: 'its address is not allowed; an administrator sets LOOPTRACE_OUTBOUND_ALLOWED',
  unresolved: 'its host is unknown',
  connection: 'the connection failed',
  timeout: 'it did not answer in time',
  aborted: 'the request was ended',
  too_large: `its reply exceeds ${reply_bytes_max} bytes`,
  encoding: 'its reply cannot be decoded',
  redirects: 'it redirects',
}

function toReply({ name }: Endpoint, sent: Sent): ModelReply {
  if (sent instanceof OutboundFailed) {
    const isCharged = sent.reached
    throw new ModelFailed(`model ${name}: ${reasons[sent.code]}`, { isCharged, cause: sent })
  }
  return { status: sent.status, json: parsedJson(sent.body.toString('utf8')) }
}
