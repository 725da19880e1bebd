import type { Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import type { RateLimiter } from '../../../../platform/http/index.ts'
import type { QuietLog } from '../../../../platform/telemetry/index.ts'
import type { ProjectKey } from '../../../access/index.ts'
import type { OtlpDependencies, OtlpSettings } from './contract.ts'
import { type BodyBytes, type InflightBytes, tooLarge } from './inflight-bytes.ts'
import type { EndedExport, OtlpMeters } from './meters.ts'
import type { Pipeline } from './pipeline.ts'
import { toProblem } from './status-codes.ts'

/** The headers, or the metadata, that may carry a key. */
export type ExportCredentials = {
  api_key: string | undefined
  authorization: string | undefined
}

/** The key, or a refusal, which has its headers. */
type Admission = { key: ProjectKey; fault?: never } | { key?: never; fault: Problem }

/**
 * Checks a request's key, its scope and the rate limit. It is synchronous when the key is known.
 */
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
    if (key.is_archived) return refused(problem('project_archived', { detail: archivedDetail }))
    const rate = limiter.take(key.key_id, clock.now_ms())
    return rate.allowed ? { key } : refused(rate.fault.withHeaders(headersFrom(rate.headers)))
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

const archivedDetail = 'the project is archived; an admin of the project can restore it'

/**
 * Returns the key. An `Authorization` that is neither Bearer nor Basic with a project key may be for
 * a gateway, so it is ignored.
 */
function keyIn({ api_key, authorization = '' }: ExportCredentials): string | undefined {
  if (api_key !== undefined && api_key !== '') return api_key
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)
  return bearer?.[1] ?? keyInBasic(authorization)
}

function refused(fault: Problem): Admission {
  return { fault }
}

/** Converts headers as name, value, name, value to an object. */
function headersFrom(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < list.length; at += 2) headers[list[at] ?? ''] = list[at + 1] ?? ''
  return headers
}

function failed(error: unknown): Admission {
  return refused(toProblem(error))
}

function noKey(): Problem {
  const detail =
    'the project key is missing: send X-API-Key: lt_…, Authorization: Bearer lt_…, or Basic with the key as password (LANGFUSE_SECRET_KEY)'
  return problem('credentials_missing', { detail })
}

function unknownKey(): Problem {
  return problem('credentials_invalid', {
    detail: 'the project key is unknown or revoked',
  })
}

function missingScope(): Problem {
  return problem('permission_denied', { detail: 'the key lacks the scope ingest:write' })
}

/** The client closed the connection before its request was complete, so there is no reply. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** A request of HTTP/1.1 or a stream of HTTP/2; `aborted` once the client has cancelled it. */
type BodySource = Readable & { readonly aborted: boolean }

type BodyLimits = {
  bytes_max: number
  idle_timeout_ms: number
  /** Receives each piece; an error that it throws refuses the request. */
  inspect?: (piece: Buffer) => void
}

/**
 * Reads a request's body to its end; it must not be read after `held` is released. Rejects with
 * `body_too_large` at the first byte over the limit, `overloaded` when the bytes cannot be held,
 * `request_timeout` after `idle_timeout_ms` of silence, and ClientGone.
 */
export function readBody(
  request: BodySource,
  limits: BodyLimits,
  held: BodyBytes,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed)
      return reject(new ClientGone('the client closed the connection before it sent the request'))
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
      // HTTP/2 ends the stream of a cancelled call too.
      if (request.aborted) return gone()
      clearTimeout(timer)
      request.off('close', gone)
      resolve(held.joined(chunks, length))
    }
    const gone = () =>
      stop(new ClientGone('the client closed the connection while it sent the request'))
    const late = () => stop(silent(limits.idle_timeout_ms))
    const timer = setTimeout(late, limits.idle_timeout_ms)
    request.on('data', take)
    request.on('end', end)
    request.on('close', gone)
    request.on('error', () => undefined)
  })
}

function silent(idle_timeout_ms: number): Error {
  const detail = `the client sent nothing for ${idle_timeout_ms} ms`
  return problem('request_timeout', { detail })
}

/**
 * Maximum compressed bytes of a body that is decompressed synchronously, which is cheaper than a
 * thread.
 */
const atOncePackedBytes = 64 * 1024
/** Maximum decompressed bytes of the same; a larger body is decompressed in pieces. */
const atOnceUnpackedBytes = 1024 * 1024
/** Bytes that a thread decompresses at a time. */
const piece_bytes = 128 * 1024

/**
 * Decompresses a gzip body. Throws `body_too_large` as soon as the output exceeds `bytes_max`,
 * `overloaded` when it cannot be held, `invalid_request` when the input is corrupt or incomplete.
 */
export async function unpack(packed: Buffer, bytes_max: number, held: BodyBytes): Promise<Buffer> {
  const isSmall =
    packed.length <= atOncePackedBytes && declaredLength(packed) <= atOnceUnpackedBytes
  const atOnce = isSmall ? unpackAtOnce(packed, bytes_max) : undefined
  if (atOnce === undefined) return unpackInPieces(packed, bytes_max, held)
  held.take(atOnce.length)
  return atOnce
}

/**
 * Returns the length that the trailer declares (RFC 1952, ISIZE). It may be wrong, but often avoids
 * decompressing twice.
 */
function declaredLength(packed: Buffer): number {
  return packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4)
}

/** Decompresses synchronously. Returns undefined when the output is too large for that. */
function unpackAtOnce(packed: Buffer, bytes_max: number): Buffer | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: Math.min(bytes_max, atOnceUnpackedBytes) })
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
  return problem('invalid_request', { detail: 'the body is not valid gzip, or incomplete', cause })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Services that both transports share. */
export type ReceiverServices = {
  settings: OtlpSettings
  clock: Clock
  admit: Admit
  take: Pipeline
  inflight: InflightBytes
  meters: OtlpMeters
  quietLog: QuietLog
  /** Starts counting a request as in flight; `ended` stops it. */
  began(): void
  ended(request: EndedExport): void
}

/** Maximum characters of the encoded credentials: those of a key and a user name are far fewer. */
const characters_max = 4_096

/**
 * Returns the project key in an `Authorization: Basic …`: the password, which is the secret key of
 * Langfuse's SDKs, or the user name. Returns undefined for any other credentials, such as those for
 * a gateway.
 */
export function keyInBasic(authorization: string): string | undefined {
  if (authorization.length > characters_max) return undefined
  const encoded = /^basic +([\w+/-]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const [user, password] = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  return [password, user].find((value) => /^lt_\S+$/.test(value))
}
