import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type SplitDocument,
  splitDocument,
} from '../../src/capabilities/verification/knowledge/chunks.ts'
import {
  buildLibrary,
  findPassages,
  type Library,
} from '../../src/capabilities/verification/knowledge/library.ts'
import {
  type DocumentFormat,
  readDocument,
} from '../../src/capabilities/verification/knowledge/read-document.ts'
import { factsFromJson } from '../../src/capabilities/verification/verdicts/facts-from-json.ts'
import {
  type Fact,
  judgeByFacts,
} from '../../src/capabilities/verification/verdicts/judge-by-facts.ts'
import { judgeByWords } from '../../src/capabilities/verification/verdicts/judge-by-words.ts'
import type { Verdict } from '../../src/capabilities/verification/verdicts/verdict.ts'

/**
 * Measures the verdicts on claims against labelled claims. `LABELLED_CLAIMS` names a folder with
 * `documents.json` and `answers.json`; run it with `npm run bench:claims`.
 */

interface LabelledDocument {
  readonly id: string
  readonly title: string
  readonly format: DocumentFormat
  readonly text: string
  readonly facts?: readonly Fact[]
}

interface LabelledClaim {
  readonly text: string
  readonly label: string
  readonly trap: string | null
  readonly docs: readonly string[]
  readonly quote: string | null
}

interface Answer {
  readonly question: string
  readonly claims: readonly LabelledClaim[]
}

interface Outcome extends LabelledClaim {
  readonly verdict: Verdict
  readonly support: number
  readonly method: string
  readonly givenSupport: number | undefined
  readonly factVerdict: Verdict
  /** Rank of the first passage that holds the labelled quote; 0 when none does. */
  readonly rank: number
}

const folder = process.env['LABELLED_CLAIMS']
if (folder === undefined) throw new Error('LABELLED_CLAIMS is not set. Name a labelled folder.')
const documents: LabelledDocument[] = JSON.parse(readText('documents.json'))
const answers: Answer[] = JSON.parse(readText('answers.json'))
const split = new Map(documents.map((document) => [document.id, splitLabelled(document)]))
const library = buildLibrary(split.values())
const facts = documents.flatMap(({ id, format, text, facts: given = [] }) => [
  ...given.map((fact) => ({ ...fact, source: id })),
  ...(format === 'json' ? factsFromJson(id, text) : []),
])
const started = performance.now()
const outcomes = answers.flatMap(({ question, claims }) =>
  claims.map((claim) => measureClaim(question, claim)),
)
const elapsed_ms = performance.now() - started

report()

function readText(name: string): string {
  return readFileSync(join(folder ?? '', name), 'utf8')
}

function splitLabelled({ id, title, format, text }: LabelledDocument): SplitDocument {
  return splitDocument(id, title, readDocument(format, text))
}

function measureClaim(context: string, claim: LabelledClaim): Outcome {
  const question = { text: claim.text, context }
  const passages = findPassages(library, question)
  const words = judgeByWords(question, passages)
  const fact = judgeByFacts(question, facts)
  const isDecided = fact.verdict === 'supported' || fact.verdict === 'contradicted'
  return {
    ...claim,
    verdict: isDecided ? fact.verdict : words.verdict,
    method: isDecided ? fact.method : words.method,
    support: words.support,
    givenSupport: givenSupport(question, claim.docs),
    factVerdict: fact.verdict,
    rank: rankOfQuote(passages, claim),
  }
}

/** Rates a claim with the labelled documents alone, as if retrieval were perfect. */
function givenSupport(question: { text: string; context: string }, ids: readonly string[]) {
  if (ids.length === 0) return undefined
  const given = new Map(
    ids.flatMap((id) => (split.has(id) ? [[id, split.get(id)]] : []) as [string, SplitDocument][]),
  )
  const chunks = new Map([...library.chunks].filter(([, { document }]) => given.has(document.id)))
  const narrow: Library = { documents: given, chunks, index: onlyChunks(chunks) }
  return judgeByWords(question, findPassages(narrow, question)).support
}

/** Keeps the frequencies of the whole library and the postings of some chunks. */
function onlyChunks(chunks: Library['chunks']): Library['index'] {
  const { postings, lengths, averageLength } = library.index
  const kept = [...postings].map(
    ([term, rows]) => [term, rows.filter(({ chunk }) => chunks.has(chunk))] as const,
  )
  return { postings: new Map(kept), lengths, averageLength }
}

function rankOfQuote(
  passages: readonly { source: string; at: readonly [number, number] }[],
  { quote, docs }: LabelledClaim,
): number {
  const place = passages.findIndex(({ source, at }) => {
    if (quote === null || !docs.includes(source)) return false
    const text = documents.find(({ id }) => id === source)?.text ?? ''
    const start = text.indexOf(quote)
    return start !== -1 && start < at[1] && start + quote.length > at[0]
  })
  return place + 1
}

function report(): void {
  const total = outcomes.length
  const perClaim = (elapsed_ms / total).toFixed(2)
  console.log(`${total} claims, ${library.chunks.size} chunks, ${perClaim} ms per claim`)
  const quoted = outcomes.filter(({ quote }) => quote !== null)
  const hits = [1, 5].map((k) => share(quoted, ({ rank }) => rank > 0 && rank <= k))
  console.log(`hit@1 ${hits[0]}  hit@5 ${hits[1]} (${quoted.length} claims with a quote)`)
  console.log(`AUC supported against the rest, end to end: ${auc(outcomes, 'support')}`)
  console.log(`AUC supported against the rest, documents given: ${auc(outcomes, 'givenSupport')}`)
  const withoutMissing = outcomes.filter(({ label }) => label !== 'not_found')
  const withoutRefuted = outcomes.filter(({ label }) => label !== 'contradicted')
  console.log(`  against contradicted: ${auc(withoutMissing, 'givenSupport')}`)
  console.log(`  against not_found: ${auc(withoutRefuted, 'givenSupport')}`)
  for (const verdict of ['supported', 'contradicted'] as const) reportVerdict(verdict)
  for (const trap of [...new Set(outcomes.map(({ trap }) => trap))].sort()) reportTrap(trap)
  if (process.env['SHOW_ERRORS'] !== undefined) showErrors()
}

function reportVerdict(verdict: Verdict): void {
  for (const method of ['quote', 'words', 'facts', 'all']) {
    const given = outcomes.filter(
      (outcome) => outcome.verdict === verdict && (method === 'all' || outcome.method === method),
    )
    const precision = share(given, ({ label }) => label === verdict)
    const labelled = outcomes.filter(({ label }) => label === verdict)
    const recall = share(labelled, (outcome) => given.includes(outcome))
    const coverage = share(outcomes, (outcome) => given.includes(outcome))
    console.log(
      `${verdict} by ${method}: ${given.length} claims, precision ${precision}, recall ${recall}, coverage ${coverage}`,
    )
  }
}

function reportTrap(trap: string | null): void {
  const claims = outcomes.filter((outcome) => outcome.trap === trap)
  const decided = claims.filter(
    ({ verdict }) => verdict === 'supported' || verdict === 'contradicted',
  )
  const right = share(decided, ({ label, verdict }) => label === verdict)
  const figures = `${decided.length} of ${claims.length} decided, right ${right}`
  console.log(`trap ${trap ?? '(none)'}: ${figures}, AUC ${auc(claims, 'support')}`)
}

function showErrors(): void {
  for (const { verdict, label, text, method, docs } of outcomes) {
    const isDecided = verdict === 'supported' || verdict === 'contradicted'
    if (isDecided && verdict !== label) console.log(verdict, label, method, text, docs.join())
  }
}

function share<T>(items: readonly T[], test: (item: T) => boolean): string {
  return items.length === 0 ? '–' : (items.filter(test).length / items.length).toFixed(3)
}

/** Probability that a supported claim is rated above another one; ties count half. */
function auc(claims: readonly Outcome[], field: 'support' | 'givenSupport'): string {
  const rated = claims.filter((claim) => claim[field] !== undefined)
  const positive = rated.filter(({ label }) => label === 'supported').map((one) => one[field] ?? 0)
  const negative = rated.filter(({ label }) => label !== 'supported').map((one) => one[field] ?? 0)
  if (positive.length === 0 || negative.length === 0) return '–'
  let wins = 0
  for (const one of positive) {
    for (const other of negative) wins += one > other ? 1 : one === other ? 0.5 : 0
  }
  return (wins / positive.length / negative.length).toFixed(3)
}
