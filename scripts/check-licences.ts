import { readFileSync } from 'node:fs'
import { readExceptions } from './supply-chain/exceptions.ts'
import { findLicenceFaults } from './supply-chain/licences.ts'

/** Fails on a production dependency whose licence is not allowed. */
const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
const faults = findLicenceFaults(lock.packages, readExceptions().licences)
for (const fault of faults) console.error(`licences: ${fault}`)
if (faults.length > 0) {
  console.error('Replace the package, or add an exception to scripts/supply-chain/exceptions.json')
  process.exitCode = 1
}
