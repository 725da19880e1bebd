import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/**
 * A file of the built console: its compressed forms by the name of their coding, and `plain` for the
 * few clients that accept none of them.
 */
export type BuiltFile = { media_type: string; plain: Buffer; coded: ReadonlyMap<string, Buffer> }

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
export function readPage(): string | undefined {
  return existsSync(page) ? readFileSync(page, 'utf8') : undefined
}

/** Reads the files that the page loads, by name. None in a checkout without a build. */
export function readAssets(): Map<string, BuiltFile> {
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
  const offered = (accepted ?? '').split(',').map((part) => part.trim().toLowerCase())
  for (const [coding, bytes] of file.coded) {
    const isAccepted = offered.some((part) => {
      const [name, quality = ''] = part.split(/\s*;\s*/)
      return name === coding && !/^q=0(\.0*)?$/.test(quality)
    })
    if (isAccepted) return { bytes, coding }
  }
  return { bytes: file.plain }
}
