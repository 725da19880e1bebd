import { writeFile } from 'node:fs/promises'
import { corpus } from '../test/corpus/corpus.ts'
import { measure } from '../test/corpus/measure.ts'
import { verdictsPage } from '../test/corpus/verdicts-page.ts'

/** Measures the detectors on the labelled runs; prints the page and writes it to docs/reference. */
const page = verdictsPage(measure(corpus))
console.log(page)
await writeFile(new URL('../docs/reference/verdicts.md', import.meta.url), page)
