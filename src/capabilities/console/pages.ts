import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import {
  Answer,
  defineRoute,
  pageHeaders,
  type Route,
  securityHeaders,
} from '../../platform/http/index.ts'
import { formFor, readAssets, readPage } from './built-files.ts'

/**
 * Addresses of the console. The app reads the rest of the address itself; every address of the list
 * opens the same page.
 */
const addresses = [
  { url: '/sign-in', id: 'consoleSignIn', summary: 'The console: sign in' },
  { url: '/set-password', id: 'consoleSetPassword', summary: 'The console: set a password' },
  { url: '/p/{project_id}', id: 'consoleProject', summary: 'The console: a project' },
  { url: '/p/{project_id}/{screen}', id: 'consoleScreen', summary: 'The console: a screen' },
  { url: '/p/{project_id}/{screen}/{id}', id: 'consoleItem', summary: 'The console: one thing' },
] as const

/** Maximum loads per minute and network. A network may be an office behind one address. */
const maxPagesPerMinute = 600
const maxAssetsPerMinute = 6_000

/** A year: the name of a file changes with its content. */
const keptForever = 'public, max-age=31536000, immutable'

const open = { method: 'GET', auth: 'public', scope: { level: 'public' }, page: true } as const

/**
 * The HTML of the console. A checkout without a build serves a page that says how to build it.
 */
export function consolePage(): string {
  return readPage() ?? missingPage
}

/** The routes that serve the console: its page at each address, and the files that it loads. */
export function consoleRoutes(): Route[] {
  const page = consolePage()
  const headers = { ...pageHeaders, 'cache-control': 'no-cache' }
  const pages = addresses.map(({ url, id, summary }) =>
    defineRoute({
      ...open,
      ...{ url, id, summary },
      params: paramsOf(url),
      reply: z.undefined(),
      errors: [],
      rate_per_minute_max: maxPagesPerMinute,
      handle: async () =>
        new Answer(undefined, { headers, content: { media_type: 'text/html', text: page } }),
    }),
  )
  return [...pages, assetRoute()]
}

function paramsOf(url: string): z.ZodType {
  const names = [...url.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name)
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.string()])))
}

function assetRoute(): Route {
  const files = readAssets()
  return defineRoute({
    ...open,
    url: '/assets/{file}',
    id: 'consoleFile',
    summary: 'A file that the console loads',
    params: z.strictObject({ file: z.string().max(200) }),
    reply: z.undefined(),
    errors: ['route_not_found'],
    rate_per_minute_max: maxAssetsPerMinute,
    handle: async ({ params, headers: asked }) => {
      const file = files.get(params.file)
      if (file === undefined) {
        throw problem('route_not_found', {
          detail: `There is no file ${params.file} in this version. Reload the page`,
        })
      }
      const { bytes, coding } = formFor(file, String(asked['accept-encoding'] ?? ''))
      const headers = {
        ...securityHeaders,
        'cache-control': keptForever,
        vary: 'accept-encoding',
        ...(coding !== undefined && { 'content-encoding': coding }),
      }
      return new Answer(undefined, {
        headers,
        content: { media_type: file.media_type, text: bytes },
      })
    },
  })
}

const missingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Looptrace</title>
<h1>The console is not built</h1>
<p>Build it in the folder of the sources, then start the service again:</p>
<pre>make console</pre>
<p>The API works without it: <a href="/openapi.json">/openapi.json</a>.</p>
</html>
`
