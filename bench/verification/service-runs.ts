import { readFileSync } from 'node:fs'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import { checkAnswer, indexSeen } from '../../src/capabilities/provenance/sources/index.ts'
import type { SeenText } from '../../src/capabilities/provenance/values/index.ts'
import { type Severity, severities } from '../../src/model/severity.ts'
import { type AgentRun, agentRun } from '../../test/corpus/agent-run.ts'
import { type AlteredAnswer, alterDigit, replaceValue } from './alter-value.ts'

/** A message of a service run, as chat completions write it. */
type Message = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_call_id?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

/** A conversation of a customer-service agent with a label. */
export type ServiceRun = {
  id?: string
  outcome: string
  fault: { kind: string; at_message: number } | null
  tools: { function: { name: string } }[]
  messages: Message[]
}

/** A value of an answer that has no source, as the finding lists it. */
type ListedValue = { value: string; at: readonly [start: number, end: number]; note: string }
type Finding = { severity: Severity; step: number; values: readonly ListedValue[] }

/** Reads the runs of a JSONL file. */
export function readServiceRuns(file: string): ServiceRun[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as ServiceRun)
}

/** Returns the findings on values of a conversation, as the product makes them. */
function findingsOfRun({ tools, messages }: ServiceRun, name: string): Finding[] {
  const declared = tools.map((tool) => tool.function.name)
  const run = messages.reduce(addMessage, agentRun(name, { tools: declared }))
  const only = { only: ['unsupported_value'] }
  const { findings } = runDetectors(reconstruct(run.observations()), {}, only)
  return findings.map(({ severity, start_step, evidence }) => ({
    severity,
    step: start_step ?? 0,
    values: evidence['values'] as ListedValue[],
  }))
}

function addMessage(run: AgentRun, { role, content, ...more }: Message): AgentRun {
  const text = content ?? ''
  if (role === 'system') return run.system(text)
  if (role === 'user') return run.user(text)
  if (role === 'tool') {
    const id = more.tool_call_id
    return run.results([id === undefined ? text : { text, id }])
  }
  const calls = (more.tool_calls ?? []).map(({ id, function: one }) => ({
    id,
    name: one.name,
    args: one.arguments,
  }))
  return run.assistant({ ...(text === '' ? {} : { text }), calls })
}

/** Altered answers, those whose altered value is listed, and those with medium severity or more. */
export type AlteredCounts = { of: number; listed: number; medium: number }

/** Counts of a file of runs. */
export type ServiceFigures = {
  clean: number
  /** Clean runs by their worst finding on values. */
  flagged: Partial<Record<Severity, number>>
  /** Values of clean answers that have two digits or more, and those of them that are listed. */
  values: number
  listed: number
  /** One digit of one value of a clean answer altered. */
  altered: AlteredCounts
  /** All digits of one value of a clean answer replaced. */
  replaced: AlteredCounts
  /** Runs whose label is an altered value: those with a finding on that answer. */
  faults: AlteredCounts
}

/** Measures the check of values on runs: clean ones, and their answers with one value altered. */
export function measureServiceRuns(
  runs: readonly ServiceRun[],
  say: (line: string) => void,
): ServiceFigures {
  const none = (): AlteredCounts => ({ of: 0, listed: 0, medium: 0 })
  const figures: ServiceFigures = {
    clean: 0,
    flagged: {},
    values: 0,
    listed: 0,
    altered: none(),
    replaced: none(),
    faults: none(),
  }
  for (const [at, run] of runs.entries()) {
    const name = `${run.id ?? 'run'} ${at}`
    if (run.outcome === 'healthy') measureClean({ run, name, say }, figures)
    else if (run.fault?.kind === 'altered_value') measureFault({ run, name, say }, figures)
  }
  return figures
}

type Measured = { run: ServiceRun; name: string; say: (line: string) => void }

function measureClean(measured: Measured, figures: ServiceFigures): void {
  const { run, name, say } = measured
  const findings = findingsOfRun(run, name)
  figures.clean += 1
  const worst = worstOf(findings)
  if (worst !== undefined) figures.flagged[worst] = (figures.flagged[worst] ?? 0) + 1
  for (const { severity, step, values } of findings) {
    figures.listed += values.length
    for (const { value, note } of values)
      say(`clean ${name}, step ${step}: ${severity} “${value}” ${note}`)
  }
  for (const [at, message] of run.messages.entries()) {
    if (isAnswer(message)) alterAnswer(measured, at, figures)
  }
}

function isAnswer({ role, content, tool_calls = [] }: Message): boolean {
  return role === 'assistant' && content !== null && content !== '' && tool_calls.length === 0
}

function worstOf(findings: readonly Finding[]): Severity | undefined {
  return severities.findLast((severity) => findings.some((one) => one.severity === severity))
}

/** Alters each value of an answer that has a source, one at a time. */
function alterAnswer(measured: Measured, place: number, figures: ServiceFigures): void {
  const { run, name } = measured
  const answer = run.messages[place]?.content ?? ''
  const before = run.messages.slice(0, place)
  const texts = before.filter(({ role }) => role !== 'assistant').map(toSeen)
  if (!before.some(({ role }) => role === 'tool')) return
  const checked = checkAnswer(answer, indexSeen(texts)).filter(
    ({ verdict, at }) =>
      verdict !== 'exempt' && (answer.slice(...at).match(/\d/g) ?? []).length >= 2,
  )
  figures.values += checked.length
  for (const { verdict, at } of checked) {
    if (verdict !== 'seen' && verdict !== 'derived') continue
    const ways = [
      [figures.altered, alterDigit(answer, at)],
      [figures.replaced, replaceValue(answer, at)],
    ] as const
    for (const [counts, altered] of ways) {
      if (altered === undefined) continue
      const messages = [...before, { role: 'assistant' as const, content: altered.text }]
      const last = { ...run, messages }
      countFound({ ...measured, run: last, name: `${name} ${place} ${at[0]}` }, altered, counts)
    }
  }
}

function toSeen({ content, role }: Message, at: number): SeenText {
  return { source: `${role} ${at}`, text: content ?? '' }
}

function countFound(
  { run, name, say }: Measured,
  { text, at }: AlteredAnswer,
  counts: AlteredCounts,
): void {
  const last = findingsOfRun(run, name).filter(({ values }) =>
    values.some((value) => text.slice(...value.at) === value.value && overlaps(value.at, at)),
  )
  counts.of += 1
  const worst = worstOf(last)
  if (worst === undefined) say(`not listed ${name}: “${text.slice(...at)}” in ${around(text, at)}`)
  else counts.listed += 1
  if (isSerious(worst)) counts.medium += 1
}

function around(text: string, [start, end]: readonly [number, number]): string {
  return text.slice(Math.max(0, start - 40), end + 20).replaceAll('\n', ' ')
}

function overlaps(one: readonly [number, number], other: readonly [number, number]): boolean {
  return one[0] < other[1] && other[0] < one[1]
}

function isSerious(severity: Severity | undefined): boolean {
  return severity !== undefined && severities.indexOf(severity) >= severities.indexOf('medium')
}

/** Counts a run whose label is an altered value: the answer is a finding of its own. */
function measureFault({ run, name, say }: Measured, { faults }: ServiceFigures): void {
  const place = run.fault?.at_message ?? run.messages.length - 1
  const until = { ...run, messages: run.messages.slice(0, place + 1) }
  const step = until.messages.filter(({ role }) => role === 'assistant').length - 1
  const found = findingsOfRun(until, name).filter((one) => one.step === step)
  const worst = worstOf(found)
  faults.of += 1
  if (worst === undefined) say(`missed ${name}: ${JSON.stringify(run.fault)}`)
  else faults.listed += 1
  if (isSerious(worst)) faults.medium += 1
}
