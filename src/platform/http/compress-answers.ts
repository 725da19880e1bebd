import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Route } from './route.ts'

/** Smaller answers fit into one packet, so compressing them saves no time. */
const bytes_min = 1_024

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/**
 * Codings by preference. Levels above these take twice the time and save less than 10 % of the bytes
 * of JSON.
 */
const codings = {
  br: (bytes: Buffer) => toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes: Buffer) => toGzip(bytes, { level: 3 }),
} as const

const codingNames = Object.keys(codings) as (keyof typeof codings)[]

/** Media types that shrink. Streams are never compressed, so that each event leaves at once. */
const shrinks = /^(text\/|application\/(json|problem\+json|x-ndjson|yaml|javascript)\b)/

/**
 * Returns whether answers of a route may be compressed. The size of a compressed answer tells how
 * much of it repeats (BREACH), so an answer with a secret is not: the calls of people who sign in,
 * and those that show a key or a link once.
 */
export function mayCompress({ auth, method, shown_once }: Route): boolean {
  return shown_once === undefined && (auth !== 'public' || method === 'GET')
}

/** Compresses an answer of at least 1 KB, if the client accepts it. For Fastify's `onSend`. */
export async function compressAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  if (Buffer.byteLength(payload) < bytes_min || !isCompressible(reply)) return payload
  reply.header('vary', withName(reply.getHeader('vary'), 'Accept-Encoding'))
  const coding = acceptedCoding(textOf(request.headers['accept-encoding']), codingNames)
  if (coding === undefined) return payload
  const bytes = await codings[coding](Buffer.from(payload))
  reply.header('content-encoding', coding).removeHeader('content-length')
  return bytes
}

/**
 * Returns the first of the codings that an Accept-Encoding header accepts (RFC 9110, 12.5.3);
 * undefined when it accepts none of them. `*` is not read: clients that want a coding name it.
 */
export function acceptedCoding<Coding extends string>(
  header: string | undefined,
  codings: Iterable<Coding>,
): Coding | undefined {
  const offered = new Set(
    (header ?? '')
      .split(',')
      .map((part) =>
        part
          .trim()
          .toLowerCase()
          .split(/\s*;\s*/),
      )
      .filter(([, quality = '']) => !/^q=0(\.0*)?$/.test(quality))
      .map(([name]) => name),
  )
  for (const coding of codings) if (offered.has(coding)) return coding
  return undefined
}

function isCompressible(reply: FastifyReply): boolean {
  if (reply.hasHeader('content-encoding') || reply.hasHeader('set-cookie')) return false
  return shrinks.test(String(reply.getHeader('content-type')))
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header
}

/** Adds a name to a header that is a list of names, unless the list has it. */
function withName(header: number | string | string[] | undefined, name: string): string {
  if (header === undefined) return name
  return String(header).toLowerCase().includes(name.toLowerCase())
    ? String(header)
    : `${header}, ${name}`
}
