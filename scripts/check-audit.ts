import { resolve } from 'node:path'
import { auditDependencies, judgeAudit } from './supply-chain/audit.ts'
import { readExceptions } from './supply-chain/exceptions.ts'

/**
 * Fails on known vulnerabilities of production dependencies of severity high or critical. Without
 * an answer of the registry, it says so and passes, so that a build works offline.
 */
const audit = await auditDependencies(resolve(import.meta.dirname, '..'))
if ('unavailable' in audit) {
  console.warn(`dependency audit: NOT DONE, the registry gave no report: ${audit.unavailable}`)
} else {
  const today = new Date().toISOString().slice(0, 10)
  const { faults, notes } = judgeAudit(audit.advisories, readExceptions(), today)
  for (const note of notes) console.log(`dependency audit: ${note}`)
  for (const fault of faults) console.error(`dependency audit: ${fault}`)
  if (faults.length > 0) {
    console.error(
      'Update the packages, or add an exception to scripts/supply-chain/exceptions.json',
    )
    process.exitCode = 1
  }
}
