import { z } from 'zod'
import { pageHeaders } from './page.ts'
import { Answer, defineRoute, type RawRoute, type Route } from './route.ts'
import { htmlHeaders } from './security-headers.ts'

/** Entry points for clients, in order. A role lists those that it serves. */
const waysIn = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1beta/models/{model}:generateContent',
  '/v1/traces',
  '/v1/logs',
  '/api/v2/observability/ingest',
  '/api/v1/tasks',
]

/** The API reference for people, which not all roles serve. */
const reference = '/docs'

const docs = [
  'README.md',
  'docs/guides/first-trace.md',
  'docs/guides/ways-in.md',
  'docs/guides/otlp-from-your-sdk.md',
  'docs/reference/routes.md',
]

const pageSchema = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    version: z.string().describe('Version of this server, as in its OpenAPI document.'),
    openapi: z.string().describe('Path of the OpenAPI document.'),
    reference: z
      .string()
      .optional()
      .describe('Path of the API reference for people. Absent where the role does not serve it.'),
    docs: z.array(z.string()).describe('Documentation: paths in the source tree.'),
    ways_in: z
      .array(
        z
          .strictObject({ method: z.string(), path: z.string(), summary: z.string() })
          .meta({ id: 'WayIn' }),
      )
      .describe('Main routes of this server.'),
  })
  .meta({ id: 'Service' })
type Page = z.output<typeof pageSchema>

/**
 * Defines the route `/`: a description of the server as JSON, or HTML for a browser. A role with
 * the console opens it there.
 */
export function frontPageRoute(
  routes: () => readonly (Route | RawRoute)[],
  version: string,
  consolePage?: string,
): Route {
  return defineRoute({
    method: 'GET',
    url: '/',
    id: 'getService',
    summary: 'Describe this server and its main routes, as JSON or HTML',
    auth: 'public',
    scope: { level: 'public' },
    reply: pageSchema,
    or_html: true,
    errors: [],
    handle: async ({ headers }) => {
      const page = describeService(routes(), version)
      if (!prefersHtml(String(headers['accept'] ?? ''))) {
        return new Answer(page, { headers: { vary: 'accept' } })
      }
      const text = consolePage ?? renderHtml(page)
      const shown = consolePage === undefined ? htmlHeaders : pageHeaders
      const content = { media_type: 'text/html', text }
      return new Answer(page, { headers: { ...shown, vary: 'accept' }, content })
    },
  })
}

function describeService(routes: readonly (Route | RawRoute)[], version: string): Page {
  const ways_in = waysIn.flatMap((url) =>
    routes
      .filter((route) => route.url === url)
      .map(({ method, summary }) => ({ method, path: url, summary })),
  )
  return {
    name: 'Looptrace',
    description: 'The reliability layer for LLM agents.',
    version,
    openapi: '/openapi.json',
    ...(routes.some(({ url }) => url === reference) && { reference }),
    docs,
    ways_in,
  }
}

/** Returns whether the Accept header prefers HTML to JSON (RFC 9110, 12.5.1). */
function prefersHtml(accept: string): boolean {
  const weights = new Map<string, number>()
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((word) => word.trim())
    const quality = parameters.find((word) => word.startsWith('q='))?.slice(2) ?? '1'
    weights.set(type, Number(quality) || 0)
  }
  const weightOf = (...types: string[]) =>
    types.map((type) => weights.get(type)).find((weight) => weight !== undefined) ?? 0
  return weightOf('text/html') > weightOf('application/json', 'application/*', '*/*')
}

function renderHtml({ name, description, version, openapi, docs, ways_in, ...page }: Page): string {
  const links = [page.reference, openapi].filter((path) => path !== undefined)
  const rows = ways_in.map(({ method, path, summary }) => [`${method} ${path}`, summary] as const)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<h1>${name} ${version}</h1>
<p>${description}</p>
<p>All routes: ${links.map((path) => `<a href="${path}">${path}</a>`).join(' · ')}</p>
<h2>Main routes</h2>
<dl>
${rows.map(([call, summary]) => `<dt><code>${call}</code><dd>${escapeHtml(summary)}`).join('\n')}
</dl>
<h2>Documentation in the source tree</h2>
<ul>
${docs.map((path) => `<li><code>${path}</code>`).join('\n')}
</ul>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
