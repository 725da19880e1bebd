import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * Writes the software bill of materials of an image: CycloneDX 1.5, by `npm sbom`.
 * `node sbom.ts <file> [--bundle=<folder>] [--omit=optional]` in a folder with package.json, its lock
 * and node_modules. It lists the production dependencies that are in node_modules or in a bundle,
 * and Node itself. Equal files give equal output. The images are built with it, so it imports
 * nothing.
 */
type Component = { 'bom-ref': string; name: string; version: string; [field: string]: unknown }
type Bom = {
  metadata: { timestamp?: string; component: Component; [field: string]: unknown }
  serialNumber: string
  components: Component[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

const { values: flags, positionals } = parseArgs({
  options: { bundle: { type: 'string' }, omit: { type: 'string' } },
  allowPositionals: true,
})
const [file = 'sbom.cdx.json'] = positionals
// `--omit=dev` would also omit a production dependency that a development tool needs.
const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
const bom: Bom = JSON.parse(execFileSync('npm', words, { encoding: 'utf8', maxBuffer: 2 ** 26 }))
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
const bundled = flags.bundle === undefined ? [] : packagesOfBundle(flags.bundle)
const present = new Set([...packagesIn('node_modules'), ...bundled])
const wanted = lockedPackages(flags.omit !== 'optional')
const unknown = bundled.filter((id) => !wanted.has(id))
if (unknown.length > 0) throw new Error(`bundled, but no production dependency: ${unknown}`)
const removed = bom.components.filter((each) => {
  const id = `${each.name}@${each.version}`
  return !present.has(id) || !wanted.has(id)
})
const gone = new Set(removed.map((each) => each['bom-ref']))
const root = bom.metadata.component['bom-ref']
const node = nodeComponent()

bom.components = [...bom.components.filter((each) => !gone.has(each['bom-ref'])), node]
bom.dependencies = bom.dependencies
  .filter(({ ref }) => !gone.has(ref))
  .map(({ ref, dependsOn = [] }) => ({
    ref,
    dependsOn: [
      ...dependsOn.filter((one) => !gone.has(one)),
      ...(ref === root ? [node['bom-ref']] : []),
    ],
  }))
bom.dependencies.push({ ref: node['bom-ref'], dependsOn: [] })
// npm takes the name of the folder, the time and a random number, and may mark tools.
Object.assign(bom.metadata.component, { name, version, type: 'application' })
delete bom.metadata.timestamp
bom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(bom.components))}`
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`)
console.log(`${file}: ${bom.components.length} components`)

/** The runtime, which is copied into the image beside the packages. */
function nodeComponent(): Component {
  const release = process.version.slice(1)
  const purl = `pkg:generic/node@${release}`
  return { 'bom-ref': purl, type: 'platform', name: 'node', version: release, purl }
}

/** Returns name@version of the production dependencies of the lock file. */
function lockedPackages(with_optional: boolean): Set<string> {
  type Locked = { version?: string; dev?: true; optional?: true; devOptional?: true }
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  const found = new Set<string>()
  for (const [folder, { version, dev, optional, devOptional }] of Object.entries(lock.packages)) {
    if (folder === '' || dev || (!with_optional && (optional || devOptional))) continue
    found.add(`${folder.split('node_modules/').at(-1)}@${version}`)
  }
  return found
}

/** Returns name@version of the packages whose code is in a bundle. */
function packagesOfBundle(folder: string): string[] {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).bundledPackages
}

/** Returns name@version of the packages of a node_modules folder, also of nested ones. */
function packagesIn(folder: string): Set<string> {
  const found = new Set<string>()
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.name !== 'package.json' || !entry.isFile()) continue
    const { name, version } = JSON.parse(readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    found.add(`${name}@${version}`)
  }
  return found
}

/** Returns a UUID of version 8 from a text (RFC 9562, 5.8). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`]
  return [...parts, `${variant}${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}
