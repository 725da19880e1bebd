import { writeBundle } from './bundle/bundle.ts'

/**
 * Bundles the service: `node scripts/bundle.ts [folder]`, by default into `dist/looptrace`. The
 * images run the bundle, and so do tests of processes; `make run` runs the sources.
 */
const [folder = 'dist/looptrace'] = process.argv.slice(2)
const began_ms = performance.now()
const { files, bytes, packages } = await writeBundle(folder)
const seconds = ((performance.now() - began_ms) / 1000).toFixed(1)
const size = (bytes / 1e6).toFixed(1)
console.log(`${folder}: ${files} files, ${size} MB, ${packages} packages, in ${seconds} s`)
