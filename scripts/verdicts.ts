import { writeFile } from 'node:fs/promises'
import { corpus } from '../test/corpus/corpus.ts'
import { measure } from '../test/corpus/measure.ts'
import { measureStack, stacksPage } from '../test/corpus/stacks-page.ts'
import { verdictsPage } from '../test/corpus/verdicts-page.ts'
import { recordedStacks } from '../test/tools/emissions/recording.ts'

/**
 * Measures the detectors on the labelled runs and on the recordings of stacks; writes both pages of
 * docs/reference, and prints the first.
 */
const page = verdictsPage(measure(corpus))
console.log(page)
await writeFile(new URL('../docs/reference/verdicts.md', import.meta.url), page)
const stacks = stacksPage(recordedStacks().map(measureStack))
await writeFile(new URL('../docs/reference/stacks.md', import.meta.url), stacks)
