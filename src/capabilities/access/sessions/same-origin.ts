import { problem } from '../../../kernel/problem.ts'
import type { BrowserRequest } from '../../../platform/http/index.ts'

/** The header that pages of ours send with each request that changes something. */
export const csrfHeader = 'x-looptrace-csrf'

/**
 * Throws `permission_denied` unless a request with our cookie came from a page of ours. Browsers say
 * where a request came from (`Sec-Fetch-Site`, `Origin`), and let no other site add a header of its
 * own without our consent, which we never give. Reads may also be opened by the person.
 */
export function assertSameOrigin(
  { method, headers }: BrowserRequest,
  public_url: string | undefined,
): void {
  const reads = method === 'GET' || method === 'HEAD'
  const { origin, host, 'sec-fetch-site': site } = headers
  const sites: readonly unknown[] = ['same-origin', ...(reads ? ['none'] : [])]
  if (site !== undefined && !sites.includes(site)) throw refusal(`Sec-Fetch-Site is ${site}`)
  if (origin !== undefined && !isOurs(origin, public_url, host)) {
    throw refusal('Origin is another site')
  }
  if (!reads && headers[csrfHeader] !== '1') throw refusal('X-Looptrace-CSRF: 1 is missing')
}

function isOurs(
  origin: string | string[],
  public_url: string | undefined,
  host: string | string[] | undefined,
): boolean {
  if (public_url !== undefined) return origin === new URL(public_url).origin
  return URL.parse(String(origin))?.host === host
}

function refusal(reason: string): Error {
  return problem('permission_denied', {
    detail: `A session cookie counts only in requests of our own pages: ${reason}`,
  })
}
