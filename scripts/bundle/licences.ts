import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A package with code in the bundle. */
export type BundledPackage = {
  name: string
  version: string
  licence: string
  /** Texts of its licences and notices, from its files or its README; else a sentence. */
  texts: readonly string[]
}

const licenceFile = /^(licen[cs]e|notice|copying)/i
/** A section of a README about the licence, up to the next heading. */
const licenceSection = /^#+ *licen[cs]e.*\n(?:(?!#).*\n?)*/im

/** Finds the packages of modules by their paths, in the order of their names. */
export async function packagesOf(modules: Iterable<string>): Promise<BundledPackage[]> {
  const roots = new Set<string>()
  for (const id of modules) {
    const [root] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []
    if (root !== undefined) roots.add(root)
  }
  const packages = await Promise.all([...roots].map(readPackage))
  return packages.sort((a, b) => idOf(a).localeCompare(idOf(b), 'en'))
}

async function readPackage(root: string): Promise<BundledPackage> {
  const {
    name,
    version,
    license = '',
  } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const inRoot = await readdir(root, { withFileTypes: true })
  const files = inRoot
    .filter((entry) => entry.isFile() && licenceFile.test(entry.name))
    .map((entry) => entry.name)
    .sort()
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  if (texts.length === 0) {
    const readme = inRoot.find(({ name: file }) => /^readme/i.test(file))?.name
    const text = readme === undefined ? '' : await readFile(join(root, readme), 'utf8')
    texts.push(
      `The package contains no file of its licence, ${license}.`,
      ...(licenceSection.exec(text) ?? []),
    )
  }
  return { name, version, licence: license, texts: texts.map((text) => text.trim()) }
}

/** Writes the licences of packages as one text. */
export function licencesText(packages: readonly BundledPackage[]): string {
  const parts = packages.map((each) =>
    [`${idOf(each)} (${each.licence})`, ...each.texts].join('\n\n'),
  )
  return `${['The service contains these packages.', ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

function idOf({ name, version }: BundledPackage): string {
  return `${name}@${version}`
}
