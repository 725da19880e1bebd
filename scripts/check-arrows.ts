import { readdirSync } from 'node:fs'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config'

/**
 * Checks the import rules of .dependency-cruiser.mjs, and that dependency-cruiser saw every module
 * of src: a version that cannot parse our TypeScript would report no violation at all.
 */
const { options = {}, ...ruleSet } = await extractConfig('./.dependency-cruiser.mjs')
const { output } = await cruise(['src', 'test', 'bench'], { ...options, ruleSet, validate: true })
const { modules, summary } = output as ICruiseResult

const seen = new Set(modules.map(({ source }) => source))
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
const unseen = files.filter((name) => /\.[jt]s$/.test(name) && !seen.has(`src/${name}`))
for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`)
for (const name of unseen) console.error(`dependency-cruiser did not see src/${name}`)
console.log(`${modules.length} modules, ${summary.violations.length} forbidden imports`)
if (summary.violations.length + unseen.length > 0) process.exitCode = 1
