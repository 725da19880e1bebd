import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { Answer, defineRoute, type Route } from './route.ts'
import { htmlHeaders, securityHeaders } from './security-headers.ts'

/** A page for people in browsers, or a file that the page loads. */
export type PageDefinition = {
  url: string
  /** Name of the route. */
  id: string
  summary: string
  /** The file. Its extension selects the media type: `.html`, `.js` or `.css`. */
  file: URL
  /**
   * The page is drawn by a package that writes markup and uses small images inside its styles. Its
   * policy leaves out Trusted Types, and allows `data:` images.
   */
  drawn_by_package?: true
}

/** Maximum loads per minute and network. A network may be an office behind one address. */
const maxLoadsPerMinute = 300

/** Directives of every page: it runs scripts and loads styles of its own server only. */
const ownServerOnly = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
]

/** Headers of a page. It runs scripts and loads styles and pictures of its own server only. */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...securityHeaders,
  ...htmlHeaders,
  'content-security-policy': [
    ...[...ownServerOnly, "img-src 'self'"],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ].join('; '),
}

/** Headers of a page that a package draws. */
const packagePageHeaders: Readonly<Record<string, string>> = {
  ...pageHeaders,
  'content-security-policy': [...ownServerOnly, 'img-src data:'].join('; '),
}

/** Media types and headers by extension. */
const kinds: Record<string, { media_type: string; headers: Readonly<Record<string, string>> }> = {
  html: { media_type: 'text/html', headers: pageHeaders },
  js: {
    media_type: 'text/javascript',
    headers: { ...securityHeaders, 'cache-control': 'no-cache' },
  },
  css: { media_type: 'text/css', headers: { ...securityHeaders, 'cache-control': 'no-cache' } },
}

/**
 * Defines the public route of a static file. Reads the file once, so that a missing file prevents
 * the start. Browsers keep scripts and styles, and ask whether they changed. The route is not part
 * of the API: the OpenAPI document leaves it out.
 */
export function definePage(definition: PageDefinition): Route {
  const { url, id, summary, file } = definition
  const kind = kinds[file.pathname.split('.').at(-1) ?? '']
  if (kind === undefined) throw new TypeError(`${file.pathname}: expected .html, .js or .css`)
  const content = { media_type: kind.media_type, text: readFileSync(file, 'utf8') }
  const etag = kind.media_type === 'text/html' ? undefined : etagFrom(content.text)
  const headers = {
    ...(definition.drawn_by_package ? packagePageHeaders : kind.headers),
    ...(etag !== undefined && { etag }),
  }
  return defineRoute({
    method: 'GET',
    url,
    id,
    summary,
    auth: 'public',
    scope: { level: 'public' },
    page: true,
    reply: z.undefined(),
    errors: [],
    rate_per_minute_max: maxLoadsPerMinute,
    handle: async ({ headers: asked }) => {
      if (etag !== undefined && asked['if-none-match'] === etag) {
        return new Answer(undefined, { status: 304, headers })
      }
      return new Answer(undefined, { headers, content })
    },
  })
}

function etagFrom(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url')}"`
}
