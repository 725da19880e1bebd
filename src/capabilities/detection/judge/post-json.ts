import { type LookupAddress, lookup as lookUp } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

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
  /** Hosts that the operator allowed to have non-public addresses. */
  allowed_hosts: readonly string[]
  /** Aborts when the answer is no longer needed. */
  signal?: AbortSignal | undefined
}

/**
 * Posts JSON and returns the JSON of the answer. The host is resolved once, by the connection
 * itself, and only public addresses are connected; redirects are not followed. Rejects with
 * JudgeUnavailable, which never quotes a header.
 */
export async function postJson(options: PostOptions): Promise<unknown> {
  const text = await send(options)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new JudgeUnavailable('the answer is not JSON', { cause })
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
      reject(new JudgeUnavailable(`${host} is not a public address`))
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
      reject(toUnavailable(cause))
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
    if (bytes > bytes_max) throw new JudgeUnavailable(`the answer exceeds ${bytes_max} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Resolves a host name; a single non-public address refuses the name. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookUp(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return callback(error, '')
    const refused = found.find(({ address }) => !isPublicAddress(address))
    const [first] = found
    if (refused !== undefined || first === undefined) {
      return callback(new JudgeUnavailable(`${hostname} has a non-public address`), '')
    }
    return options.all ? callback(null, found) : callback(null, first.address, first.family)
  })
}

function toUnavailable(cause: unknown): JudgeUnavailable {
  if (cause instanceof JudgeUnavailable) return cause
  const isLate = cause instanceof Error && [cause, cause.cause].some(isTimeout)
  return new JudgeUnavailable(isLate ? 'the endpoint took too long' : 'no connection', { cause })
}

/** An aborted request rejects with the signal's reason as its cause. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

/**
 * Tells whether an address is on the public internet: not loopback, private, link-local, shared,
 * documentation, multicast or reserved (IANA special-purpose registries, RFC 6890).
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  // IPv4-mapped IPv6 addresses are checked as IPv4.
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return isPublicAddress(mapped)
  return family === 4 ? !reserved4.check(address, 'ipv4') : !reserved6.check(address, 'ipv6')
}

// Separate lists, because the mapped IPv6 range in a common list would match all of IPv4.
const reserved4 = new BlockList()
const reserved6 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  reserved4.addSubnet(network, prefix, 'ipv4')
}
for (const [network, prefix] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 32],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  reserved6.addSubnet(network, prefix, 'ipv6')
}
