import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Checks that the lock file is complete. npm omits optional packages of other platforms that its
 * mirror does not carry, and then `npm ci` refuses on every machine. `--fix` adds missing ones,
 * with the platform in the package's name.
 */
type Locked = {
  version?: string
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const path = new URL('../package-lock.json', import.meta.url)
const lock: { packages: Record<string, Locked> } = JSON.parse(readFileSync(path, 'utf8'))
const present = new Set(
  Object.keys(lock.packages).map((place) => place.split('node_modules/').at(-1)),
)
const missing = Object.values(lock.packages)
  .flatMap((entry) => Object.entries(entry.optionalDependencies ?? {}))
  .filter(([name]) => !present.has(name))

if (missing.length > 0 && process.argv.includes('--fix')) {
  for (const [name, version] of missing) {
    lock.packages[`node_modules/${name}`] = { version, optional: true, ...platformOf(name) }
  }
  const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1))
  lock.packages = Object.fromEntries(sorted)
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`package-lock.json: added ${missing.length} packages of other platforms`)
} else if (missing.length > 0) {
  const names = missing.map(([name]) => name).join(', ')
  console.error(`package-lock.json lacks ${names}: node scripts/check-lock.ts --fix`)
  process.exitCode = 1
}

/** `…-linux-arm64-musl` → linux, arm64, musl. */
function platformOf(name: string): Pick<Locked, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[-/]/)
  const os = words.find((word) => /^(android|darwin|freebsd|linux|openharmony|win32)$/.test(word))
  const cpu = words.find((word) => /^(arm|arm64|ia32|ppc64|riscv64|s390x|x64)$/.test(word))
  if (os === undefined || cpu === undefined) throw new Error(`${name}: which platform is it for?`)
  const libc = words.includes('musl') ? 'musl' : 'glibc'
  return { os: [os], cpu: [cpu], ...(os === 'linux' && { libc: [libc] }) }
}
