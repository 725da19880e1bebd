import { readFileSync } from 'node:fs'

/**
 * Holds the lock file whole: npm leaves out optional packages of other platforms when it installs
 * over an old tree, or when its mirror does not carry them, and then `npm ci` refuses everywhere.
 */
type Locked = { optionalDependencies?: Record<string, string> }

const lock: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
)
const present = new Set(
  Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1)),
)
const wanted = Object.values(lock.packages).flatMap((entry) =>
  Object.keys(entry.optionalDependencies ?? {}),
)
const missing = wanted.filter((name) => !present.has(name))
if (missing.length > 0) {
  console.error(`package-lock.json lacks ${missing.join(', ')}: make it anew without node_modules`)
  process.exitCode = 1
}
