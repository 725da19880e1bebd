import { globSync, readFileSync } from 'node:fs'
import { commentsIn, findHardToRead, type HardToRead, sentencesIn } from './plain-english.ts'

/** Comments that use a word of the list. The number may fall, and never rise. */
const comments_max = 2

/** Fails on sentences that are hard to read, in the code and on every page for users. */
const sources = globSync('src/**/*.{js,ts}').filter((name) => !name.endsWith('.test.ts'))
const pages = globSync([
  'README.md',
  'docs/{guides,reference}/*.{md,json}',
  'src/**/*.html',
  'crds/*.yaml',
  'charts/**/{*.txt,values.yaml,README.md}',
  'charts/looptrace/files/**/*.{yaml,json}',
])
if (sources.length < 500 || pages.length < 50) throw new Error('where are the sources?')

const faults = [
  ...sources.flatMap((path) => faultsOf(path, sentencesIn(readFileSync(path, 'utf8')))),
  ...pages.flatMap((path) => faultsOf(path, readFileSync(path, 'utf8').split('\n'))),
]
const comments = sources.flatMap((path) => faultsOf(path, commentsIn(readFileSync(path, 'utf8'))))
if (comments.length > comments_max) faults.push(...comments)
for (const { path, text, instead } of faults) console.error(`${path}: ${text}\n  ${instead}`)
console.log(`plain English: ${sources.length} sources, ${pages.length} pages`)
if (faults.length > 0) process.exitCode = 1

function faultsOf(path: string, texts: Iterable<string>): (HardToRead & { path: string })[] {
  return findHardToRead(texts).map((fault) => ({ path, ...fault }))
}
