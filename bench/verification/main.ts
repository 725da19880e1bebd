import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { verificationPage } from '../../scripts/verification-page.ts'
import { measureExtraction } from './extraction.ts'
import type { HalfFigures, VerificationFigures } from './figures.ts'
import { measureProvenance } from './provenance.ts'
import { measureSpeed } from './speed.ts'
import { measureVerdicts } from './verdicts.ts'

/**
 * Prints the figures of verification for labelled data: `VERIFICATION_CORPUS=<folder> npm run
 * bench:verification`. The folder has `claims/documents.json`, `claims/answers.json` and
 * `runs/*.json`. With `-- -v`, each error is printed. With `-- --write tuning` or `-- --write
 * blind`, the figures are kept as those of this half of the data, and the page is written.
 */
const { values } = parseArgs({
  options: { verbose: { type: 'boolean', short: 'v' }, write: { type: 'string' } },
})
const isVerbose = values.verbose ?? false
const half = readHalf(values.write)
const folder = process.env['VERIFICATION_CORPUS']
if (folder === undefined) throw new Error('Set VERIFICATION_CORPUS to a folder of labelled data.')

console.log('# Extraction of claims')
const extraction = measureExtraction(folder, isVerbose)
console.log('\n# Verdicts on claims')
const tiers = [measureVerdicts(folder, isVerbose)]
console.log('\n# Values of answers')
const valueFigures = measureProvenance(folder, isVerbose)
if (half === undefined) {
  console.log('\n# Speed')
  measureSpeed()
} else {
  const date = new Date().toISOString().slice(0, 10)
  await keep(half, { date, extraction, tiers, values: valueFigures })
}

function readHalf(name: string | undefined): 'tuning' | 'blind' | undefined {
  if (name === undefined || name === 'tuning' || name === 'blind') return name
  throw new Error(`--write: got "${name}", expected tuning or blind`)
}

async function keep(name: 'tuning' | 'blind', measured: HalfFigures): Promise<void> {
  const file = 'docs/reference/verification.figures.json'
  const known: VerificationFigures = JSON.parse(await readFile(file, 'utf8'))
  const figures = { ...known, [name]: measured }
  await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`)
  await writeFile('docs/reference/verification.md', verificationPage(figures))
}
