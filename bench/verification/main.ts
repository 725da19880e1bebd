import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { verificationPage } from '../../scripts/verification-page.ts'
import { measureExtraction } from './extraction.ts'
import type { HalfFigures, VerificationFigures } from './figures.ts'
import { measureProvenance } from './provenance.ts'
import { measureSpeed } from './speed.ts'
import { measureVerdicts } from './verdicts.ts'

/**
 * Prints the figures of verification for labelled data: `npm run bench:verification -- --half
 * tuning`, or `blind`. With `-v`, each error is printed: do not look at those of the blind half.
 * With `--write`, the figures are kept as those of this half, and the page is written. With
 * `VERIFICATION_CORPUS=<folder>`, other data are measured: the folder has `claims/documents.json`,
 * `claims/answers.json` and `runs/*.json`.
 */
const { values } = parseArgs({
  options: {
    verbose: { type: 'boolean', short: 'v' },
    half: { type: 'string', default: 'tuning' },
    write: { type: 'boolean', default: false },
  },
})
const isVerbose = values.verbose ?? false
const half = readHalf(values.half)
const folder = process.env['VERIFICATION_CORPUS'] ?? `bench/verification/corpus/${half}`

console.log('# Extraction of claims')
const extraction = measureExtraction(folder, isVerbose)
console.log('\n# Verdicts on claims')
const tiers = [measureVerdicts(folder, isVerbose)]
console.log('\n# Values of answers')
const valueFigures = measureProvenance(folder, isVerbose)
if (!values.write) {
  console.log('\n# Speed')
  measureSpeed()
} else {
  const date = new Date().toISOString().slice(0, 10)
  await keep(half, { date, extraction, tiers, values: valueFigures })
}

function readHalf(name: string): 'tuning' | 'blind' {
  if (name === 'tuning' || name === 'blind') return name
  throw new Error(`--half: got "${name}", expected tuning or blind`)
}

async function keep(name: 'tuning' | 'blind', measured: HalfFigures): Promise<void> {
  const file = 'docs/reference/verification.figures.json'
  const known: VerificationFigures = JSON.parse(await readFile(file, 'utf8'))
  const figures = { ...known, [name]: measured }
  await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`)
  await writeFile('docs/reference/verification.md', verificationPage(figures))
}
