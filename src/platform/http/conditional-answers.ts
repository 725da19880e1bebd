import { createHash } from 'node:crypto'
import type { Answer, HeaderDocs, RequestHeaders, Route } from './route.ts'

/** Documentation of the header, for routes that read an object with an ETag. */
export const ifNoneMatchHeader: HeaderDocs = {
  name: 'If-None-Match',
  required: false,
  description: 'ETags of answers that the client holds. The answer is 304 if one is current.',
}

/** Returns whether the answers of a route can be 304. */
export function isConditional({ method, etag }: Pick<Route, 'method' | 'etag'>): boolean {
  return method === 'GET' && etag === true
}

/**
 * Returns the ETag of an answer that shows a versioned object: `"<version>-<digest>"`. An answer
 * also shows facts beside the object, such as the time of the next run, which change without a new
 * version; the digest covers them. If-Match reads the version alone.
 */
export function shownEtag(answer: Answer<unknown>, text: string): string | undefined {
  const { etag } = answer.headers
  const version = typeof etag === 'string' ? /^"(\d+)"$/.exec(etag)?.[1] : undefined
  if (version === undefined) return undefined
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, digestLength)
  return `"${version}-${digest}"`
}

/** 96 bits: two answers of an object never share a digest by chance. */
const digestLength = 16

/** Returns whether If-None-Match names an ETag. Weak ETags match too (RFC 9110, 13.1.2). */
export function isHeldByClient(headers: RequestHeaders, etag: string): boolean {
  const header = headers['if-none-match']
  const text = Array.isArray(header) ? header.join(',') : header
  if (text === undefined) return false
  const held = text.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return held.includes('*') || held.includes(etag)
}
