import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import {
  Answer,
  acceptedCoding,
  defineRoute,
  pageHeaders,
  type Route,
  securityHeaders,
} from '../../platform/http/index.ts'

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
      url,
      id,
      summary,
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

/**
 * A file of the built console: its compressed forms by the name of their coding, and `plain` for the
 * few clients that accept none of them.
 */
type BuiltFile = { media_type: string; plain: Buffer; coded: ReadonlyMap<string, Buffer> }

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}

/** Codings by preference, and the ending of their files. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

const page = new URL('../../../console/dist/index.html', import.meta.url)
const assets = new URL('../../../console/dist/assets', import.meta.url)

/** Reads the page of the console; undefined in a checkout without a build. */
function readPage(): string | undefined {
  return existsSync(page) ? readFileSync(page, 'utf8') : undefined
}

/** Reads the files that the page loads, by name. None in a checkout without a build. */
function readAssets(): Map<string, BuiltFile> {
  const files = new Map<string, BuiltFile>()
  if (!existsSync(assets)) return files
  const read = (name: string) => readFileSync(new URL(`${assets.href}/${name}`))
  for (const name of new Set(readdirSync(assets).map((each) => each.replace(/\.(br|gz)$/, '')))) {
    const media_type = mediaTypes[name.split('.').at(-1) ?? '']
    if (media_type === undefined) continue
    const coded = new Map(codings.map(([coding, ending]) => [coding, read(`${name}${ending}`)]))
    files.set(name, {
      media_type,
      coded,
      get plain() {
        return gunzipSync(read(`${name}.gz`))
      },
    })
  }
  return files
}

/**
 * Returns the form of a file for an Accept-Encoding header, and its coding. Browsers accept Brotli
 * over HTTPS and on this machine only.
 */
export function formFor(
  file: Pick<BuiltFile, 'plain' | 'coded'>,
  accepted: string | undefined,
): { bytes: Buffer; coding?: string } {
  const coding = acceptedCoding(accepted, file.coded.keys())
  const bytes = coding === undefined ? undefined : file.coded.get(coding)
  if (coding !== undefined && bytes !== undefined) return { bytes, coding }
  return { bytes: file.plain }
}
