import { type Problem, problem } from '../../kernel/problem.ts'
import type { HeaderDocs, RequestHeaders } from './route.ts'

/** Documentation of the header, for routes that replace something. */
export const ifMatchHeader: HeaderDocs = {
  name: 'If-Match',
  required: false,
  description: 'ETag of the version to replace. Another current version answers 412.',
}

/** Returns the ETag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/**
 * Reads the version to replace from If-Match; undefined replaces any version. A header that is not
 * an ETag of `etagOf` gives -1, which matches nothing.
 */
export function versionToReplace(headers: RequestHeaders): number | undefined {
  const text = textOf(headers)
  if (text === undefined || text.trim() === '*') return undefined
  return Number(/^\s*"(\d{1,15})"\s*$/.exec(text)?.[1] ?? -1)
}

/** Returns the error for a change of another version than the one that was read. */
export function changedSince(headers: RequestHeaders, version: number): Problem {
  return problem('precondition_failed', {
    detail: `If-Match: got ${textOf(headers)?.slice(0, 80)}, expected ${etagOf(version)}: read the object again`,
    faults: [{ pointer: 'If-Match', detail: 'expected the ETag of the current version' }],
  })
}

/** Writes of a versioned object: unconditionally, or of one version only. */
export type VersionedWrites<Stored extends { version: number }> = {
  put(): Promise<Stored>
  /** Resolves to undefined when another version is stored. */
  replace(version: number): Promise<Stored | undefined>
  find(): Promise<{ version: number } | undefined>
}

/** Writes as If-Match requires. Throws `precondition_failed` with the current version. */
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
