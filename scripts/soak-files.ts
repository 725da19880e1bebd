import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { soakOnlyFiles } from '../test/support/suite/soak-only.ts'

/** Prints the test files that do more in a soak: those that ask for a budget, directly or not. */
const budget = '^test/support/suite/budget\\.ts$'
const { output } = await cruise(['test', 'src'], { reaches: budget, doNotFollow: 'node_modules' })
const { modules } = output as ICruiseResult
const reaching = modules.map(({ source }) => source).filter((path) => path.endsWith('.test.ts'))
if (reaching.length < 50) throw new Error(`only ${reaching.length} files ask for a budget`)
const own = 'test/support/suite/'
const files = new Set([...reaching, ...Object.keys(soakOnlyFiles)])
console.log([...files].filter((path) => !path.startsWith(own)).join('\n'))
