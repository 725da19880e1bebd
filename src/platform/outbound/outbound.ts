import type { LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { Client } from 'undici'
import { webPorts } from './address-policy.ts'
import { abortedBy, failed, OutboundFailed } from './outbound-failed.ts'
import {
  type Address,
  type Guard,
  type OutboundOptions,
  reachableAddresses,
  refusedAddress,
  toGuard,
  toTarget,
} from './reachable-addresses.ts'

/** A request to a server that a user of the product named. */
type OutboundRequest = {
  /** `http` or `https`, without user and password. */
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Redirects that are followed, at most 5, for GET. Default 0: a redirect is the reply. */
  redirects?: number
  /** Time for everything, from resolving the name to the last byte. Default 5,000. */
  timeout_ms?: number
  /** Bytes that are read of the reply. A longer reply fails. Default 2 MiB, decoded 8 MiB. */
  limits?: { bytes: number; decoded_bytes: number }
  /** Bytes after which the reply is cut instead; it is not decoded then. */
  cut_at_bytes?: number
  /**
   * Ports on which public addresses may be reached, default 80 and 443. Others only for servers that
   * the configuration of the process names: see `portsOf`.
   */
  public_ports?: readonly number[]
  signal?: AbortSignal
}

export type OutboundReply = {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
  /** Of the last request, after redirects. */
  url: string
  isCut: boolean
}

/** The only way to servers that a user names. It reaches public addresses and allowed networks. */
export type Outbound = {
  /**
   * Returns why a URL is refused before a request: no absolute http or https URL, a login, or an
   * address that is not allowed. A name is resolved by `send` only.
   */
  refusal(url: string, public_ports?: readonly number[]): OutboundFailed | undefined
  /**
   * Returns the name resolution for connections of another client to the host of a URL: it answers
   * with checked addresses only. Throws OutboundFailed as `refusal` returns it.
   */
  lookup(url: string, public_ports?: readonly number[]): LookupFunction
  /** Rejects with OutboundFailed. A reply of any status resolves. */
  send(request: OutboundRequest): Promise<OutboundReply>
}

const defaults = {
  timeout_ms: 5_000,
  limits: { bytes: 2 * 2 ** 20, decoded_bytes: 8 * 2 ** 20 },
}
const redirects_max = 5
const redirect_statuses = [301, 302, 303, 307, 308]

/**
 * Opens the guard of outbound requests. A literal address is checked before the connection; a name
 * is resolved once, all of its addresses must be reachable, and the connection goes to one of these
 * addresses, so that a second answer of the name server changes nothing. Each redirect is checked
 * alike. Nothing is sent that the caller did not name: no cookies, no Referer, no credentials of an
 * earlier host.
 */
export function openOutbound(options: OutboundOptions): Outbound {
  const guard = toGuard(options)
  return {
    refusal: (url, public_ports = webPorts) => {
      try {
        return refusedAddress(toTarget(url), { ...guard, public_ports })
      } catch (error) {
        if (error instanceof OutboundFailed) return error
        throw error
      }
    },
    lookup: (text, public_ports = webPorts) => {
      const url = toTarget(text)
      const fault = refusedAddress(url, { ...guard, public_ports })
      if (fault !== undefined) throw fault
      return (host, options, answer) => {
        const signal = AbortSignal.timeout(defaults.timeout_ms)
        reachableAddresses(url, { ...guard, public_ports, signal }).then(
          (addresses) => pinned(addresses)(host, options, answer),
          (error: Error) => answer(error, ''),
        )
      }
    },
    send: async (request) => {
      const timeout = AbortSignal.timeout(request.timeout_ms ?? defaults.timeout_ms)
      const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout
      const first = { url: toTarget(request.url), headers: request.headers ?? {} }
      return follow({ ...request, signal }, guard, first)
    },
  }
}

/** Sends a request, and the ones that its redirects ask for. */
async function follow(request: Exchange, guard: Guard, hop: Hop, hops = 0): Promise<OutboundReply> {
  const { signal, public_ports = webPorts } = request
  const addresses = await reachableAddresses(hop.url, { ...guard, signal, public_ports })
  const reply = await exchange({ ...request, headers: hop.headers }, hop.url, addresses)
  const { method, redirects = 0 } = request
  const next = method === 'GET' && redirects > 0 ? redirectOf(reply, hop) : undefined
  if (next === undefined) return reply
  const hops_max = Math.min(redirects, redirects_max)
  if (hops >= hops_max) throw failed('redirects', hop.url, `redirects more than ${hops_max} times`)
  return follow(request, guard, next, hops + 1)
}

/** One request of a chain of redirects. */
type Hop = { url: URL; headers: Readonly<Record<string, string>> }

/** Returns the next request, which has the headers only if it goes to the same origin. */
function redirectOf({ status, headers }: OutboundReply, hop: Hop): Hop | undefined {
  const { location } = headers
  if (!redirect_statuses.includes(status) || typeof location !== 'string') return undefined
  const url = toTarget(URL.parse(location, hop.url.href)?.href ?? location)
  return { url, headers: url.origin === hop.url.origin ? hop.headers : {} }
}

type Exchange = OutboundRequest & { signal: AbortSignal }

/** Sends one request over a connection of its own to one of the addresses. */
async function exchange(
  request: Exchange,
  url: URL,
  addresses: readonly Address[],
): Promise<OutboundReply> {
  const { method, headers = {}, body, signal } = request
  const client = new Client(url.origin, { connect: { lookup: pinned(addresses) }, pipelining: 0 })
  let reached = false
  client.once('connect', () => {
    reached = true
  })
  try {
    const path = `${url.pathname}${url.search}`
    const answer = await client.request({
      method,
      path,
      headers: { ...headers },
      signal,
      ...(body !== undefined && { body }),
    })
    const read = await readBody(answer.body, request, url)
    const encoding = String(answer.headers['content-encoding'] ?? 'identity').toLowerCase()
    const decoded =
      request.cut_at_bytes === undefined
        ? await decode(read.body, encoding, request, url)
        : read.body
    return {
      status: answer.statusCode,
      headers: answer.headers,
      ...read,
      body: decoded,
      url: url.href,
    }
  } catch (error) {
    throw toFailure(error, { signal, url, reached })
  } finally {
    await client.destroy()
  }
}

/** Answers every question for the name with the addresses that were checked. */
function pinned(addresses: readonly Address[]): LookupFunction {
  const [first = { address: '', family: 0 }] = addresses
  return (_, { all }, answer) => {
    if (all) answer(null, [...addresses])
    else answer(null, first.address, first.family)
  }
}

async function readBody(
  body: AsyncIterable<Buffer>,
  { limits = defaults.limits, cut_at_bytes }: OutboundRequest,
  url: URL,
): Promise<{ body: Buffer; isCut: boolean }> {
  const max = cut_at_bytes ?? limits.bytes
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size <= max) continue
    if (cut_at_bytes === undefined) throw tooLarge(url, `${max} bytes`)
    return { body: Buffer.concat(chunks).subarray(0, max), isCut: true }
  }
  return { body: Buffer.concat(chunks), isCut: false }
}

function tooLarge(url: URL, bound: string): OutboundFailed {
  return failed('too_large', url, `sent more than ${bound}`, true)
}

const decoders = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

async function decode(
  body: Buffer,
  encoding: string,
  { limits = defaults.limits }: OutboundRequest,
  url: URL,
): Promise<Buffer> {
  if (encoding === 'identity' || body.length === 0) return body
  const decoder = decoders.get(encoding)
  if (decoder === undefined) throw failed('encoding', url, 'sent an unknown content encoding', true)
  try {
    return await decoder(body, { maxOutputLength: limits.decoded_bytes })
  } catch (error) {
    const isLong = error instanceof RangeError
    if (isLong) throw tooLarge(url, `${limits.decoded_bytes} decoded bytes`)
    throw failed('encoding', url, `sent a body that is not ${encoding}`, true)
  }
}

function toFailure(
  error: unknown,
  { signal, url, reached }: { signal: AbortSignal; url: URL; reached: boolean },
): OutboundFailed {
  if (error instanceof OutboundFailed) return error
  if (signal.aborted) return abortedBy(signal, url, reached)
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  return failed('connection', url, `closed the connection or refused it${code}`, reached)
}
