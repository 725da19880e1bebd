import type { SplitDocument } from '../../src/capabilities/verification/knowledge/chunks.ts'
import {
  findPassages,
  type Library,
  type Question,
} from '../../src/capabilities/verification/knowledge/library.ts'
import { judgeByFacts } from '../../src/capabilities/verification/verdicts/judge-by-facts.ts'
import { judgeByWords } from '../../src/capabilities/verification/verdicts/judge-by-words.ts'
import type { Verdict } from '../../src/capabilities/verification/verdicts/verdict.ts'
import { type Corpus, type LabelledClaim, readCorpus } from './claims-corpus.ts'
import { measureMethod, round, type Share, type TierFigures } from './figures.ts'

interface Outcome extends LabelledClaim {
  readonly verdict: Verdict
  readonly support: number
  readonly confidence: number
  readonly method: string
  readonly givenSupport: number | undefined
  readonly factVerdict: Verdict
  /** Rank of the first passage that holds the labelled quote; 0 when none does. */
  readonly rank: number
}

/**
 * Measures and prints the verdicts on claims that need no model; the folder has
 * `documents.jsonl.gz` and `answers.jsonl.gz`.
 */
export function measureVerdicts(folder: string, isVerbose: boolean): TierFigures {
  const corpus = readCorpus(folder)
  const started_ms = performance.now()
  const outcomes = corpus.answers.flatMap(({ question, claims }) =>
    claims.map((claim) => measureClaim(corpus, question, claim)),
  )
  const perClaim = ((performance.now() - started_ms) / outcomes.length).toFixed(2)
  console.log(
    `${outcomes.length} claims, ${corpus.library.chunks.size} chunks, ${perClaim} ms per claim`,
  )
  reportRanking(outcomes)
  for (const verdict of ['supported', 'likely', 'contradicted'] as const)
    reportVerdict(outcomes, verdict)
  for (const trap of [...new Set(outcomes.map(({ trap }) => trap))].sort())
    reportTrap(outcomes, trap)
  if (isVerbose) showErrors(outcomes)
  return toFigures(outcomes)
}

function toFigures(outcomes: readonly Outcome[]): TierFigures {
  const quoted = outcomes.filter(({ quote }) => quote !== null)
  const hit = (rank_max: number): Share => ({
    part: quoted.filter(({ rank }) => rank > 0 && rank <= rank_max).length,
    of: quoted.length,
  })
  return {
    tier: 'rules and BM25',
    verifier: 'kb',
    claims: outcomes.length,
    methods: ['quote', 'words', 'facts', 'all'].map((method) => measureMethod(outcomes, method)),
    auc_end_to_end: round(measureAuc(outcomes, 'support') ?? null),
    auc_evidence_given: round(measureAuc(outcomes, 'givenSupport') ?? null),
    hit_1: hit(1),
    hit_5: hit(5),
  }
}

function measureClaim(corpus: Corpus, context: string, claim: LabelledClaim): Outcome {
  const { library, facts } = corpus
  const question = { text: claim.text, context }
  const passages = findPassages(library, question)
  const words = judgeByWords(question, passages)
  const fact = judgeByFacts(question, facts)
  const isDecided = fact.verdict === 'supported' || fact.verdict === 'contradicted'
  return {
    ...claim,
    verdict: isDecided ? fact.verdict : words.verdict,
    confidence: isDecided ? fact.confidence : words.confidence,
    method: isDecided ? fact.method : words.method,
    support: words.support,
    givenSupport: givenSupport(corpus, question, claim.docs),
    factVerdict: fact.verdict,
    rank: rankOfQuote(corpus, passages, claim),
  }
}

/** Rates a claim with the labelled documents alone, as if retrieval were perfect. */
function givenSupport({ split, library }: Corpus, question: Question, ids: readonly string[]) {
  if (ids.length === 0) return undefined
  const given = new Map(
    ids.flatMap((id) => (split.has(id) ? [[id, split.get(id)]] : []) as [string, SplitDocument][]),
  )
  const chunks = new Map([...library.chunks].filter(([, { document }]) => given.has(document.id)))
  const narrow: Library = { documents: given, chunks, index: onlyChunks(library, chunks) }
  return judgeByWords(question, findPassages(narrow, question)).support
}

/** Keeps the frequencies of the whole library and the postings of some chunks. */
function onlyChunks({ index }: Library, chunks: Library['chunks']): Library['index'] {
  const { postings, lengths, averageLength } = index
  const kept = [...postings].map(
    ([term, rows]) => [term, rows.filter(({ chunk }) => chunks.has(chunk))] as const,
  )
  return { postings: new Map(kept), lengths, averageLength }
}

function rankOfQuote(
  { documents }: Corpus,
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

function reportRanking(outcomes: readonly Outcome[]): void {
  const quoted = outcomes.filter(({ quote }) => quote !== null)
  const hits = [1, 5].map((k) => share(quoted, ({ rank }) => rank > 0 && rank <= k))
  console.log(`hit@1 ${hits[0]}  hit@5 ${hits[1]} (${quoted.length} claims with a quote)`)
  console.log(`AUC supported against the rest, end to end: ${auc(outcomes, 'support')}`)
  console.log(`AUC supported against the rest, documents given: ${auc(outcomes, 'givenSupport')}`)
  const withoutMissing = outcomes.filter(({ label }) => label !== 'not_found')
  const withoutRefuted = outcomes.filter(({ label }) => label !== 'contradicted')
  console.log(`  against contradicted: ${auc(withoutMissing, 'givenSupport')}`)
  console.log(`  against not_found: ${auc(withoutRefuted, 'givenSupport')}`)
}

function reportVerdict(outcomes: readonly Outcome[], verdict: Verdict): void {
  for (const method of ['quote', 'words', 'facts', 'all']) {
    const given = outcomes.filter(
      (outcome) => outcome.verdict === verdict && (method === 'all' || outcome.method === method),
    )
    const wanted = labelOf(verdict)
    const precision = share(given, ({ label }) => label === wanted)
    const labelled = outcomes.filter(({ label }) => label === wanted)
    const recall = share(labelled, (outcome) => given.includes(outcome))
    const coverage = share(outcomes, (outcome) => given.includes(outcome))
    console.log(
      `${verdict} by ${method}: ${given.length} claims, precision ${precision}, recall ${recall}, coverage ${coverage}`,
    )
  }
}

function reportTrap(outcomes: readonly Outcome[], trap: string | null): void {
  const claims = outcomes.filter((outcome) => outcome.trap === trap)
  const decided = claims.filter(isStated)
  const right = share(decided, ({ label, verdict }) => label === labelOf(verdict))
  const figures = `${decided.length} of ${claims.length} decided, right ${right}`
  console.log(`trap ${trap ?? '(none)'}: ${figures}, AUC ${auc(claims, 'support')}`)
}

function showErrors(outcomes: readonly Outcome[]): void {
  for (const { verdict, label, text, method, docs } of outcomes) {
    if (isStated({ verdict }) && labelOf(verdict) !== label)
      console.log(verdict, label, method, text, docs.join())
  }
}

function isStated({ verdict }: Pick<Outcome, 'verdict'>): boolean {
  return verdict === 'supported' || verdict === 'likely' || verdict === 'contradicted'
}

/** Returns the label that a verdict claims. */
function labelOf(verdict: Verdict): Verdict {
  return verdict === 'likely' ? 'supported' : verdict
}

function share<T>(items: readonly T[], test: (item: T) => boolean): string {
  return items.length === 0 ? '–' : (items.filter(test).length / items.length).toFixed(3)
}

function auc(claims: readonly Outcome[], field: 'support' | 'givenSupport'): string {
  return measureAuc(claims, field)?.toFixed(3) ?? '–'
}

/** Probability that a supported claim is rated above another one; ties count half. */
function measureAuc(
  claims: readonly Outcome[],
  field: 'support' | 'givenSupport',
): number | undefined {
  const rated = claims.filter((claim) => claim[field] !== undefined)
  const positive = rated.filter(({ label }) => label === 'supported').map((one) => one[field] ?? 0)
  const negative = rated.filter(({ label }) => label !== 'supported').map((one) => one[field] ?? 0)
  if (positive.length === 0 || negative.length === 0) return undefined
  let wins = 0
  for (const one of positive) {
    for (const other of negative) wins += one > other ? 1 : one === other ? 0.5 : 0
  }
  return wins / positive.length / negative.length
}
