import type { Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import type { RateLimiter } from '../../../../platform/http/index.ts'
import type { ProjectKey } from '../../../access/index.ts'
import type { OtlpDependencies } from './contract.ts'
import { type BodyBytes, tooLarge } from './inflight-bytes.ts'
import { problemOf } from './status-codes.ts'

/** The headers, or the metadata, in which a client may send its key. */
export type ExportCredentials = {
  api_key: string | undefined
  authorization: string | undefined
}

/** The key, or the refusal with headers that go with it. */
type Admission =
  | { key: ProjectKey; fault?: never }
  | { key?: never; fault: Problem; headers: readonly string[] }

/** Lets a request in by its key: who it is, what it may do, how often. At once when it can. */
export type Admit = (credentials: ExportCredentials) => Admission | Promise<Admission>

/** Makes the check that HTTP and gRPC share. Its promise never rejects. */
export function createAdmission(options: {
  keys: OtlpDependencies['keys']
  limiter: RateLimiter
  clock: Clock
  stopping: () => boolean
}): Admit {
  const { keys, limiter, clock } = options
  const checked = (key: ProjectKey | undefined): Admission => {
    if (key === undefined) return refused(unknownKey())
    if (!key.scopes.has('ingest:write')) return refused(missingScope())
    const rate = limiter.take(key.key_id, clock.now_ms())
    return rate.allowed ? { key } : { fault: rate.fault, headers: rate.headers }
  }
  return (credentials) => {
    if (options.stopping()) return refused(problem('shutting_down', { retry_after_s: 1 }))
    const key = keyIn(credentials)
    if (key === undefined) return refused(noKey())
    try {
      const found = keys.authenticate(key)
      return found instanceof Promise ? found.then(checked, failed) : checked(found)
    } catch (error) {
      return failed(error)
    }
  }
}

/** An `Authorization` of another kind than Bearer may belong to a gateway on the way: it is no key. */
function keyIn({ api_key, authorization }: ExportCredentials): string | undefined {
  if (api_key !== undefined && api_key !== '') return api_key
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')
  return bearer?.[1]
}

function refused(fault: Problem): Admission {
  return { fault, headers: [] }
}

function failed(error: unknown): Admission {
  return refused(problemOf(error))
}

function noKey(): Problem {
  const detail = 'no project key came: expected X-API-Key: lt_… or Authorization: Bearer lt_…'
  return problem('credentials_missing', { detail })
}

function unknownKey(): Problem {
  return problem('credentials_invalid', {
    detail: 'this is no project key that is known and valid',
  })
}

function missingScope(): Problem {
  return problem('permission_denied', { detail: 'the key lacks the scope ingest:write' })
}

/** The client closed the connection before its request was whole; there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** A request of HTTP/1.1 or a stream of HTTP/2; `aborted` once the client took it back. */
type BodySource = Readable & { readonly aborted: boolean }

type BodyLimits = {
  bytes_max: number
  idle_timeout_ms: number
  /** Sees each piece as it comes; what it throws refuses the request. */
  inspect?: (piece: Buffer) => void
}

/**
 * Reads a request's body to its end; nobody may look at it after `held` is released. Rejects with
 * `body_too_large` at the first byte too many, `overloaded` when there is no room,
 * `request_timeout` after `idle_timeout_ms` of silence, and ClientGone.
 */
export function readBody(
  request: BodySource,
  limits: BodyLimits,
  held: BodyBytes,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(new ClientGone('the client left before its request came'))
    const chunks: Buffer[] = []
    let length = 0
    const stop = (error: unknown) => {
      clearTimeout(timer)
      request.off('data', take)
      request.off('end', end)
      request.off('close', gone)
      reject(error)
    }
    const take = (chunk: Buffer) => {
      timer.refresh()
      length += chunk.length
      if (length > limits.bytes_max) return stop(tooLarge(limits.bytes_max))
      try {
        limits.inspect?.(chunk)
        held.take(chunk.length)
      } catch (error) {
        return stop(error)
      }
      chunks.push(chunk)
    }
    const end = () => {
      // HTTP/2 ends the stream of a call that was cancelled, too.
      if (request.aborted) return gone()
      clearTimeout(timer)
      request.off('close', gone)
      resolve(held.joined(chunks, length))
    }
    const gone = () => stop(new ClientGone('the client left in the middle of its request'))
    const late = () => stop(silent(limits.idle_timeout_ms))
    const timer = setTimeout(late, limits.idle_timeout_ms)
    request.on('data', take)
    request.on('end', end)
    request.on('close', gone)
    request.on('error', () => undefined)
  })
}

function silent(idle_timeout_ms: number): Error {
  const detail = `no byte of the request came for ${idle_timeout_ms} ms`
  return problem('request_timeout', { detail })
}

/** Bodies up to this size are unpacked at once, which costs less than the way to a thread. */
const atOncePacked_bytes = 64 * 1024
/** A small body that grows beyond this is unpacked in pieces after all. */
const atOnceUnpacked_bytes = 1024 * 1024
/** Unpacked at a time by a thread. */
const piece_bytes = 128 * 1024

/**
 * Unpacks a gzip body. Throws `body_too_large` as soon as more than `bytes_max` came out of it,
 * `overloaded` when there is no room for that, `invalid_request` when it is broken or cut off.
 */
export async function unpack(packed: Buffer, bytes_max: number, held: BodyBytes): Promise<Buffer> {
  const isSmall = packed.length <= atOncePacked_bytes && toldLength(packed) <= atOnceUnpacked_bytes
  const atOnce = isSmall ? unpackAtOnce(packed, bytes_max) : undefined
  if (atOnce === undefined) return unpackInPieces(packed, bytes_max, held)
  held.take(atOnce.length)
  return atOnce
}

/** What the trailer says (RFC 1952, ISIZE): not to be relied on, but it spares unpacking twice. */
function toldLength(packed: Buffer): number {
  return packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4)
}

/** Undefined when it is too large for that; not to know better is left to the other way. */
function unpackAtOnce(packed: Buffer, bytes_max: number): Buffer | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: Math.min(bytes_max, atOnceUnpacked_bytes) })
  } catch (cause) {
    if (codeOf(cause) === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw notGzip(cause)
  }
}

async function unpackInPieces(packed: Buffer, bytes_max: number, held: BodyBytes): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: piece_bytes })
  gunzip.end(packed)
  const pieces: Buffer[] = []
  let unpacked = 0
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      unpacked += piece.length
      if (unpacked > bytes_max) throw tooLarge(bytes_max)
      held.take(piece.length)
      pieces.push(piece)
    }
  } catch (cause) {
    if (codeOf(cause)?.startsWith('Z_')) throw notGzip(cause)
    throw cause
  }
  return held.joined(pieces, unpacked)
}

function notGzip(cause: unknown): Error {
  return problem('invalid_request', { detail: 'the body is no gzip, or was cut off', cause })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
