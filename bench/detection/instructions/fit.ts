import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { featuresOf } from '../../../src/capabilities/detection/facts/statements/classifier/features.ts'
import { readSentences } from '../../../src/capabilities/detection/facts/statements/sentence/segments.ts'
import { type Example, fitSoftmax, type Softmax } from './softmax.ts'

/**
 * Fits the classifier of sentences that give rules, on the labelled sentences of the corpus and on texts without a rule:
 * `npm run bench:detection:fit`, half a minute of processor time. It writes
 * `classifier/kind-weights.ts`. With `--without FROM,FROM`, sentences of these origins are left out, so that they can
 * measure the fit.
 */
const { values } = parseArgs({ options: { without: { type: 'string', default: '' } } })
const source = 'bench/detection/corpus/instructions/sentences.jsonl.gz'
const target = 'src/capabilities/detection/facts/statements/classifier/kind-weights.ts'
/** Smaller weights than these, in hundredths, are left out. */
const weight_min = 25
const entries_a_line = 150

type Sentence = { from: string; kinds: readonly string[]; text: string }

const without = new Set(values.without.split(','))
const lines = gunzipSync(await readFile(source))
  .toString()
  .trim()
  .split('\n')
const labelled = lines
  .map((line): Sentence => JSON.parse(line))
  .filter(({ from }) => !without.has(from))
const examples = [
  ...labelled.map(({ kinds: [label = 'none'], text }) => toExample(text, label)),
  ...(await readOthers()).map((text) => toExample(text, 'none')),
]
const model = fitSoftmax(examples, { ridge: 0.3, examples_min: 4, steps: 40 })
const entries = entriesOf(model)
await writeFile(target, textOf(model, entries))
console.log(`${examples.length} sentences, ${entries.length} features with weights`)

function toExample(text: string, label: string): Example {
  return { features: featuresOf(text), label }
}

/** Reads the sentences of texts that give no rule: `role: text`, with `\\n` for a new line. */
async function readOthers(): Promise<string[]> {
  const texts = (await readFile('test/corpus/no-instructions.txt', 'utf8')).trim().split('\n')
  return texts.flatMap((line) => {
    const [, role, text = ''] = /^(system|user): (.*)$/.exec(line) ?? []
    const sentences = readSentences(
      text.replaceAll('\\n', '\n'),
      role === 'system' ? 'system' : 'user',
    )
    return sentences.map(({ written }) => written)
  })
}

/** Writes each feature with its weights, in hundredths; the intercepts belong to the feature without a name. */
function entriesOf({ classes, features, weights }: Softmax): string[] {
  const named: [string, number][] = [...features, ['', features.size]]
  return named.flatMap(([feature, row]) => {
    const kept = classes.flatMap((_, at) => {
      const weight = Math.round((weights[row * classes.length + at] ?? 0) * 100)
      return Math.abs(weight) < weight_min ? [] : `${at}:${weight}`
    })
    return kept.length === 0 ? [] : `${feature}=${kept.join(',')}`
  })
}

function textOf({ classes }: Softmax, all: readonly string[]): string {
  const parts = Array.from({ length: Math.ceil(all.length / entries_a_line) }, (_, at) =>
    all.slice(at * entries_a_line, (at + 1) * entries_a_line).join('\t'),
  )
  return [
    '/**',
    ` * Weights of the classifier, from ${examples.length.toLocaleString('en')} labelled sentences.`,
    ' * `npm run bench:detection:fit` writes this file.',
    ' */',
    `export const classes =`,
    `  '${classes.join(' ')}'`,
    '',
    '/** Features with their weights for classes, in hundredths: `feature=class:weight,class:weight`. */',
    'export const kindWeights: readonly string[] = [',
    ...parts.map((part) => `  ${JSON.stringify(part)},`),
    ']',
    '',
  ].join('\n')
}
