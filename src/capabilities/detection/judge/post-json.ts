import { type Outbound, OutboundFailed, portsOf } from '../../../platform/outbound/index.ts'

/** The endpoint cannot be used: bad address, bad answer, or time-out. */
export class JudgeUnavailable extends Error {
  override readonly name = 'JudgeUnavailable'
}

type PostOptions = {
  url: string
  headers: Readonly<Record<string, string>>
  body: unknown
  timeout_ms: number
  /** Maximum bytes of an answer; a longer one is refused. */
  answer_bytes_max: number
  /** Aborts when the answer is no longer needed. */
  signal?: AbortSignal | undefined
}

/**
 * Posts JSON and returns the JSON of the answer. Redirects are not followed. Rejects with
 * JudgeUnavailable, which never quotes a header.
 */
export async function postJson(outbound: Outbound, options: PostOptions): Promise<unknown> {
  const text = await send(outbound, options)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new JudgeUnavailable('the answer is not JSON', { cause })
  }
}

async function send(outbound: Outbound, options: PostOptions): Promise<string> {
  const { url, headers, body, timeout_ms, answer_bytes_max: bytes, signal } = options
  try {
    const { status, body: answer } = await outbound.send({
      ...{ url, method: 'POST', body: JSON.stringify(body), timeout_ms },
      headers: { ...headers, 'content-type': 'application/json' },
      public_ports: portsOf(url),
      limits: { bytes, decoded_bytes: bytes },
      ...(signal && { signal }),
    })
    if (status === 200) return answer.toString('utf8')
    throw new JudgeUnavailable(`the endpoint answered ${status}`)
  } catch (error) {
    if (!(error instanceof OutboundFailed)) throw error
    throw new JudgeUnavailable(messageOf(error, bytes), { cause: error })
  }
}

function messageOf({ code, message }: OutboundFailed, bytes_max: number): string {
  if (code === 'timeout') return 'the endpoint took too long'
  if (code === 'too_large') return `the answer exceeds ${bytes_max} bytes`
  return message
}
