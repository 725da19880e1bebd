import { readFileSync } from 'node:fs'

/**
 * Holds the lock file whole: npm drops optional packages of other platforms when its mirror does
 * not carry them, and then `npm ci` refuses on every machine.
 */
const wanted = ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu', 'linux-x64-gnu']

const lock: { packages: Record<string, unknown> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
)
const missing = wanted.filter((name) => !(`node_modules/@chdb/lib-${name}` in lock.packages))
if (missing.length > 0) {
  console.error(`package-lock.json lacks ${missing.map((name) => `@chdb/lib-${name}`).join(', ')}`)
  process.exitCode = 1
}
