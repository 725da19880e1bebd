import { problem } from '../../../kernel/problem.ts'
import type { BrowserRequest } from '../../../platform/http/index.ts'

/** The header that pages of this server send with each change. */
const csrfHeader = 'x-looptrace-csrf'

/**
 * Throws `permission_denied` unless a request with a session cookie came from a page of this
 * server. Browsers send the origin of a request (`Sec-Fetch-Site`, `Origin`). They let another site
 * add a custom header only if the server allows it by CORS, which this server never does. A read
 * may also come from the address bar.
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
    detail: `A session cookie is accepted only from pages of this server: ${reason}`,
  })
}
