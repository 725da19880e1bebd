import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Problem, problem } from '../../kernel/problem.ts'
import { currentCall } from '../audit/index.ts'
import { maskChange } from './mask-change.ts'
import { Answer, type HeaderDocs, type RequestHeaders, type Route } from './route.ts'
import type { Caller } from './route-access.ts'

/** Time for which an idempotency key returns the first reply. */
const kept_ms = 24 * 60 * 60 * 1000

/**
 * A store of replies to calls with an idempotency key: one row per caller, project, URL and key.
 */
export type IdempotencyStore = {
  /** Claims the key. Returns `new` for the first call, otherwise its request hash and reply. */
  claim(call: {
    scope_hash: Buffer
    request_hash: Buffer
    /** Time after which the key is free again, by the clock of the store. */
    kept_ms: number
  }): Promise<{ state: 'new' } | { state: 'known'; request_hash: Buffer; reply: KeptReply | null }>
  keep(scope_hash: Buffer, reply: KeptReply): Promise<void>
  /** Frees the key after a failure, so that the client can retry. */
  release(scope_hash: Buffer): Promise<void>
}
export type KeptReply = { status: number; body: unknown }

const keyPattern = /^[\x21-\x7e]{1,255}$/

/** Runs a call once per `Idempotency-Key`, if the route supports it and the client sent a key. */
export async function runOnce(
  route: Route,
  { request, caller }: { request: FastifyRequest; caller: Caller | null },
  idempotency: IdempotencyStore,
  run: () => Promise<Answer<unknown>>,
): Promise<Answer<unknown>> {
  const key = request.headers['idempotency-key']
  if (route.idempotent !== true || key === undefined) return run()
  if (typeof key !== 'string' || !keyPattern.test(key)) {
    throw problem('invalid_request', {
      detail: 'Idempotency-Key: expected 1 to 255 printable ASCII characters without spaces',
    })
  }
  // A person names the project in a header, so the URL does not identify the project.
  const whose = [caller?.kind, caller?.id, caller?.project_id]
  const scope_hash = hashOf([...whose, route.id, request.url, key])
  const request_hash = hashOf([request.body ?? null])
  const claim = await idempotency.claim({ scope_hash, request_hash, kept_ms })
  if (claim.state === 'known') return replay(route, claim, request_hash)
  try {
    const answer = await run()
    const status = answer.status ?? route.status ?? 200
    await idempotency.keep(scope_hash, { status, body: removeSecrets(route, answer.body) })
    return answer
  } catch (error) {
    await idempotency.release(scope_hash)
    throw error
  }
}

function replay(
  route: Route,
  claim: { request_hash: Buffer; reply: KeptReply | null },
  request_hash: Buffer,
): Answer<unknown> {
  if (!claim.request_hash.equals(request_hash)) {
    throw problem('idempotency_conflict', {
      detail: 'This Idempotency-Key was used with another body within 24 hours. Use a new key.',
    })
  }
  if (claim.reply === null) {
    throw problem('idempotency_conflict', {
      detail: 'The first call with this Idempotency-Key is still running. Retry later.',
      retry_after_s: 1,
    })
  }
  const { status, body } = claim.reply
  const headers = { 'idempotency-replayed': 'true', ...etagHeader(route, body) }
  return new Answer(body, { status, headers })
}

/** Returns the ETag of a kept reply, whose headers are not kept. */
function etagHeader(route: Route, body: unknown): { etag?: string } {
  if (route.etag !== true || typeof body !== 'object' || body === null) return {}
  const version = 'version' in body ? body.version : undefined
  return typeof version === 'number' ? { etag: etagOf(version) } : {}
}

/** Replaces secrets that are shown once by null, for the kept reply. */
function removeSecrets(route: Route, body: unknown): unknown {
  if (route.shown_once === undefined || typeof body !== 'object' || body === null) return body
  const shown = route.shown_once.filter((field) => field in body)
  const hidden = Object.fromEntries(shown.map((field) => [field, null]))
  return { ...body, ...hidden }
}

function hashOf(parts: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

/** Documentation of the header, for routes that replace something. */
export const ifMatchHeader: HeaderDocs = {
  name: 'If-Match',
  required: false,
  description: 'ETag of the version to replace. The answer is 412 if the current version differs.',
}

/** Returns the ETag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/**
 * Reads the version to replace from If-Match; undefined replaces any version. The ETag of a read has
 * a digest behind the version, which is left out: the facts that it covers are not replaced. Any
 * other header gives -1, which matches nothing.
 */
export function versionToReplace(headers: RequestHeaders): number | undefined {
  const text = textOf(headers)
  if (text === undefined || text.trim() === '*') return undefined
  return Number(/^\s*"(\d{1,15})(?:-[\w-]{16})?"\s*$/.exec(text)?.[1] ?? -1)
}

/** Returns the error for a change of another version than the one that was read. */
export function changedSince(headers: RequestHeaders, version: number): Problem {
  return problem('precondition_failed', {
    detail: `If-Match: got ${textOf(headers)?.slice(0, 80)}, expected ${etagOf(version)}: read the object again`,
    faults: [{ pointer: 'If-Match', detail: 'expected the ETag of the current version' }],
  })
}

/**
 * Throws `precondition_failed` for an If-Match of another version than the stored one. Version 0 is
 * an object that does not exist.
 */
export function assertVersion(headers: RequestHeaders, stored: number): void {
  const version = versionToReplace(headers)
  if (version !== undefined && version !== stored) throw changedSince(headers, stored)
}

/** How a versioned object is written and found. */
type VersionedWrites<Stored extends { version: number }> = {
  /** Writes over a version (undefined: any). Resolves to undefined when another one is stored. */
  write(version: number | undefined): Promise<Stored | undefined>
  find(): Promise<{ version: number } | undefined>
}

/**
 * Writes as If-Match requires, and notes the object before the change for the audit record. Throws
 * `precondition_failed` with the current version.
 */
export async function writeIfMatch<Stored extends { version: number }>(
  headers: RequestHeaders,
  { write, find }: VersionedWrites<Stored>,
): Promise<Stored> {
  const call = currentCall()
  if (call !== undefined) call.noteChange({ before: maskChange((await find()) ?? null) })
  const stored = await write(versionToReplace(headers))
  if (stored !== undefined) return stored
  throw changedSince(headers, (await find())?.version ?? 0)
}

function textOf(headers: RequestHeaders): string | undefined {
  const header = headers['if-match']
  return Array.isArray(header) ? header.join(', ') : header
}
