import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** A file of the built console, with its compressed forms by the name of their coding. */
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
  const names = readdirSync(assets)
  const read = (name: string) => readFileSync(new URL(`${assets.href}/${name}`))
  for (const name of names) {
    const media_type = mediaTypes[name.split('.').at(-1) ?? '']
    if (media_type === undefined) continue
    const coded = codings.filter(([, ending]) => names.includes(`${name}${ending}`))
    files.set(name, {
      media_type,
      plain: read(name),
      coded: new Map(coded.map(([coding, ending]) => [coding, read(`${name}${ending}`)])),
    })
  }
  return files
}

/**
 * Returns the form of a file for an Accept-Encoding header, and its coding. Browsers accept Brotli
 * over HTTPS and on this machine only.
 */
export function formFor(
  { plain, coded }: Pick<BuiltFile, 'plain' | 'coded'>,
  accepted: string | undefined,
): { bytes: Buffer; coding?: string } {
  const offered = (accepted ?? '').split(',').map((part) => part.trim().toLowerCase())
  for (const [coding, bytes] of coded) {
    const isAccepted = offered.some((part) => {
      const [name, quality = ''] = part.split(/\s*;\s*/)
      return name === coding && !/^q=0(\.0*)?$/.test(quality)
    })
    if (isAccepted) return { bytes, coding }
  }
  return { bytes: plain }
}
