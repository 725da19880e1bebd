import { measureExtraction } from './extraction.ts'
import { measureProvenance } from './provenance.ts'
import { measureSpeed } from './speed.ts'
import { measureVerdicts } from './verdicts.ts'

/**
 * Prints the figures of verification for labelled data: `VERIFICATION_CORPUS=<folder> npm run
 * bench:verification`. The folder has `claims/documents.json`, `claims/answers.json` and
 * `runs/*.json`. With `-- -v`, each error is printed.
 */
const folder = process.env['VERIFICATION_CORPUS']
const isVerbose = process.argv.includes('-v')
if (folder === undefined) throw new Error('Set VERIFICATION_CORPUS to a folder of labelled data.')

console.log('# Extraction of claims')
measureExtraction(folder, isVerbose)
console.log('\n# Verdicts on claims')
measureVerdicts(folder, isVerbose)
console.log('\n# Values of answers')
measureProvenance(folder, isVerbose)
console.log('\n# Speed')
measureSpeed()
