import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { verificationPage } from '../../scripts/verification-page.ts'
import { measureExtraction } from './extraction.ts'
import { type SetFigures, type SetName, setNames, type VerificationFigures } from './figures.ts'
import { measureProvenance } from './provenance.ts'
import { measureSpeed } from './speed.ts'
import { measureVerdicts } from './verdicts.ts'

/**
 * Prints the figures of verification for a set of labelled data: `npm run bench:verification --
 * --set tuning`, `blind` or `facts`. With `-v`, each error is printed: do not look at those of the
 * blind sets. With `--write`, the figures are kept as those of the set, and the page is written.
 * With `VERIFICATION_CORPUS=<folder>`, other data are measured: the folder has
 * `documents.jsonl.gz`, `answers.jsonl.gz` and perhaps `runs.jsonl.gz`.
 */
const { values } = parseArgs({
  options: {
    verbose: { type: 'boolean', short: 'v' },
    set: { type: 'string', default: 'tuning' },
    write: { type: 'boolean', default: false },
  },
})
const isVerbose = values.verbose ?? false
const set = readSet(values.set)
const folder = process.env['VERIFICATION_CORPUS'] ?? `bench/verification/corpus/${set}`

console.log('# Extraction of claims')
const extraction = measureExtraction(folder, isVerbose)
console.log('\n# Verdicts on claims')
const tiers = [measureVerdicts(folder, isVerbose)]
const measured: Omit<SetFigures, 'date'> = { extraction, tiers }
if (existsSync(`${folder}/runs.jsonl.gz`)) {
  console.log('\n# Values of answers')
  measured.values = measureProvenance(folder, isVerbose)
}
if (!values.write) {
  console.log('\n# Speed')
  measureSpeed()
} else {
  await keep(set, { date: new Date().toISOString().slice(0, 10), ...measured })
}

function readSet(name: string): SetName {
  const found = setNames.find((one) => one === name)
  if (found !== undefined) return found
  throw new Error(`--set: got "${name}", expected ${setNames.join(', ')}`)
}

async function keep(name: SetName, figuresOfSet: SetFigures): Promise<void> {
  const file = 'docs/reference/verification.figures.json'
  const known: VerificationFigures = JSON.parse(await readFile(file, 'utf8'))
  const figures = { ...known, [name]: figuresOfSet }
  await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`)
  await writeFile('docs/reference/verification.md', verificationPage(figures))
}
