import { type LookupAddress, lookup as lookUp } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** The endpoint can not be used: its address, its answer, or the time it took. */
export class JudgeUnavailable extends Error {
  override readonly name = 'JudgeUnavailable'
}

export type PostOptions = {
  url: string
  headers: Readonly<Record<string, string>>
  body: unknown
  timeout_ms: number
  /** A longer answer is refused. */
  answer_bytes_max: number
  /** Hosts that the operator named: they may have addresses that are not public. */
  allowed_hosts: readonly string[]
  /** Aborts when nobody waits for the answer any more. */
  signal?: AbortSignal | undefined
}

/**
 * Posts JSON and answers the JSON that comes back. A host is resolved once, by the connection itself,
 * and only a public address is connected to; redirects are not followed. Rejects with
 * JudgeUnavailable, which never quotes a header.
 */
export async function postJson(options: PostOptions): Promise<unknown> {
  const text = await send(options)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new JudgeUnavailable('the answer is no JSON', { cause })
  }
}

function send({ url, headers, body, timeout_ms, ...limits }: PostOptions): Promise<string> {
  const target = new URL(url)
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const isAllowed = limits.allowed_hosts.includes(host)
  const payload = JSON.stringify(body)
  const signals = [AbortSignal.timeout(timeout_ms), ...(limits.signal ? [limits.signal] : [])]
  return new Promise((resolve, reject) => {
    if (!isAllowed && isIP(host) !== 0 && !isPublicAddress(host)) {
      reject(new JudgeUnavailable(`${host} is no public address`))
      return
    }
    const start = target.protocol === 'https:' ? httpsRequest : httpRequest
    const request = start(target, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(payload),
      },
      signal: AbortSignal.any(signals),
      agent: false,
      ...(!isAllowed && { lookup: publicLookup }),
    })
    const fail = (cause: unknown) => {
      request.destroy()
      reject(asUnavailable(cause))
    }
    request.on('error', fail)
    request.on('response', (answer) => {
      readAnswer(answer, limits.answer_bytes_max).then(resolve, fail)
    })
    request.end(payload)
  })
}

async function readAnswer(answer: IncomingMessage, bytes_max: number): Promise<string> {
  if (answer.statusCode !== 200) {
    throw new JudgeUnavailable(`the endpoint answered ${answer.statusCode}`)
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytes_max) throw new JudgeUnavailable(`the answer is over ${bytes_max} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Resolves a name for a connection; one address that is not public refuses all of them. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookUp(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return callback(error, '')
    const refused = found.find(({ address }) => !isPublicAddress(address))
    const [first] = found
    if (refused !== undefined || first === undefined) {
      return callback(new JudgeUnavailable(`${hostname} has an address that is not public`), '')
    }
    return options.all ? callback(null, found) : callback(null, first.address, first.family)
  })
}

function asUnavailable(cause: unknown): JudgeUnavailable {
  if (cause instanceof JudgeUnavailable) return cause
  const isLate = cause instanceof Error && [cause, cause.cause].some(isTimeout)
  return new JudgeUnavailable(isLate ? 'the endpoint took too long' : 'no connection', { cause })
}

/** An aborted request rejects with an error whose cause is the signal's reason. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
