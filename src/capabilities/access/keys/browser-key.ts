import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import type { KeyScope } from '../../../kernel/scopes.ts'
import type { BrowserKey } from './project-key.ts'

const origins_max = 20

/** Default calls per minute of each end user of a browser key. */
const defaultUserRate = 20

/** Fields of a request that make the new key a browser key. */
export const browserKeyFields = {
  origins: z
    .array(
      z.string().max(256).refine(isOrigin, {
        error:
          'expected an origin as browsers send it, such as https://app.example.com: in lower case, without a path, a default port and patterns. Only localhost may use http',
      }),
    )
    .min(1)
    .max(origins_max)
    .transform((origins) => [...new Set(origins)])
    .optional()
    .describe(
      'Exact origins of the pages that can use the key. A key with origins is a browser key: its only scope is `feedback:write`, and visitors of the pages can read it.',
    ),
  user_rate_per_minute: z
    .int()
    .min(1)
    .max(600)
    .optional()
    .describe(`Calls per minute of each end user of a browser key. Default: ${defaultUserRate}.`),
}

/** Returns whether a text is an https origin in the form of an `Origin` header. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.origin !== text || !isHost(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal(url.hostname))
}

/**
 * Returns whether a host has only characters of a browser's host. URLs may have others, such as the
 * star of a pattern, which no page ever sends: such an origin would match nothing.
 */
function isHost(hostname: string): boolean {
  return /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/.test(hostname)
}

function isLocal(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
}

type Spec = {
  scopes?: readonly KeyScope[] | undefined
  origins?: readonly string[] | undefined
  user_rate_per_minute?: number | undefined
}

/** Refines a request: a browser key has one scope, and only a browser key has a rate of users. */
export function refuseBrowserFaults(spec: Spec, context: z.core.$RefinementCtx): void {
  const add = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message, input: undefined })
  if (spec.origins !== undefined && !isBrowserScope(spec.scopes ?? [])) add('scopes', expectedScope)
  if (spec.origins === undefined && spec.user_rate_per_minute !== undefined) {
    add('user_rate_per_minute', 'expected origins too: only browser keys have this limit')
  }
}

/** The columns of a browser key, both null for other keys. */
export type BrowserColumns = {
  origins: readonly string[] | null
  user_rate_per_minute: number | null
}

/** Returns the part of a stored key that makes it a browser key. */
export function browserPart(columns: BrowserColumns): { browser?: BrowserKey } {
  const { origins, user_rate_per_minute } = columns
  if (origins === null) return {}
  return { browser: { origins, user_rate_per_minute: user_rate_per_minute ?? 1 } }
}

/** Returns the columns of a browser key; of another key they are null. */
export function browserKeySpec({ origins, user_rate_per_minute }: Omit<Spec, 'scopes'>) {
  return origins === undefined
    ? { origins: null, user_rate_per_minute: null }
    : { origins, user_rate_per_minute: user_rate_per_minute ?? defaultUserRate }
}

const expectedScope = 'expected only feedback:write for a browser key, which anybody can read'

function isBrowserScope(scopes: readonly KeyScope[]): boolean {
  return scopes.length === 1 && scopes[0] === 'feedback:write'
}

/** Throws `invalid_request` for scopes that a browser key must not get. */
export function checkBrowserScopes(scopes: readonly KeyScope[]): void {
  if (isBrowserScope(scopes)) return
  throw problem('invalid_request', {
    detail: `/scopes: ${expectedScope}`,
    faults: [{ pointer: '/scopes', detail: expectedScope }],
  })
}
