import { type Problem, problem } from '../../kernel/problem.ts'
import type { HeaderDocs, RequestHeaders } from './route.ts'

/** How a route that replaces something documents the header. */
export const ifMatchHeader: HeaderDocs = {
  name: 'If-Match',
  required: false,
  description: 'The ETag of what was read: it is replaced only if it is still that.',
}

/** The ETag of something whose changes are counted. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/**
 * The version that is to be replaced; undefined: whichever there is. A header that no `etagOf` made
 * asks for -1, which nothing has.
 */
export function versionToReplace(headers: RequestHeaders): number | undefined {
  const text = textOf(headers)
  if (text === undefined || text.trim() === '*') return undefined
  return Number(/^\s*"(\d{1,15})"\s*$/.exec(text)?.[1] ?? -1)
}

/** The error for a change of what is not as it was read. */
export function changedSince(headers: RequestHeaders, version: number): Problem {
  return problem('precondition_failed', {
    detail: `If-Match: got ${textOf(headers)?.slice(0, 80)}, expected ${etagOf(version)}: read it again`,
    faults: [{ pointer: 'If-Match', detail: 'it is not the ETag of what stands there' }],
  })
}

/** How something whose changes are counted is written: whatever stands there, or that version alone. */
export type VersionedWrites<Stored extends { version: number }> = {
  put(): Promise<Stored>
  /** Undefined when another version stands there. */
  replace(version: number): Promise<Stored | undefined>
  find(): Promise<{ version: number } | undefined>
}

/** Writes as If-Match asks for. Throws `precondition_failed` with the version that stands there. */
export async function writeIfMatch<Stored extends { version: number }>(
  headers: RequestHeaders,
  { put, replace, find }: VersionedWrites<Stored>,
): Promise<Stored> {
  const version = versionToReplace(headers)
  if (version === undefined) return put()
  const stored = await replace(version)
  if (stored !== undefined) return stored
  throw changedSince(headers, (await find())?.version ?? 0)
}

function textOf(headers: RequestHeaders): string | undefined {
  const header = headers['if-match']
  return Array.isArray(header) ? header.join(', ') : header
}
