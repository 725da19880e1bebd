import { isCountedCall, type Observation } from '../../src/model/observation.ts'
import { type RecordedCase, type Recording, readRecording } from '../tools/emissions/recording.ts'
import {
  rowsOfCalls,
  rowsOfExports,
  type TaskVerdict,
  verdictsOf,
} from '../tools/emissions/replay.ts'
import { isMedium } from './measure.ts'

/** What Looptrace makes of one way in which a stack reports a case. */
type Outcome = {
  calls: number
  usage: 'exact' | 'none' | 'doubled' | 'wrong'
  /** Tool calls that the model asked for, as read from its answers. */
  tool_calls: number
  loop: boolean
  /** Types of other findings from medium on: nothing but the loop is wrong with a case. */
  wrong: string[]
  /** Why detectors could not run. */
  not_checked: string[]
}

type CaseOutcome = { name: RecordedCase['name']; by_proxy: Outcome; by_spans: Outcome }
export type StackOutcome = { recording: Recording; cases: CaseOutcome[] }

/** Replays the recording of a stack. */
export function measureStack(stack: string): StackOutcome {
  const recording = readRecording(stack)
  const cases = recording.cases.map((recorded) => ({
    name: recorded.name,
    by_proxy: outcomeOf(recorded, rowsOfCalls(recorded)),
    by_spans: outcomeOf(recorded, rowsOfExports(recorded)),
  }))
  return { recording, cases }
}

function outcomeOf({ calls }: RecordedCase, rows: readonly Observation[]): Outcome {
  const counted = rows.filter(isCountedCall)
  const verdicts = verdictsOf(rows)
  const findings = verdicts.flatMap((verdict) => verdict.findings)
  const others = findings.filter((finding) => finding.kind !== 'loop' && isMedium(finding))
  return {
    calls: counted.length,
    usage: usageIn(calls, counted),
    tool_calls: counted.reduce((sum, row) => sum + row.tool_calls.length, 0),
    loop: findings.some(({ kind }) => kind === 'loop'),
    wrong: [...new Set(others.map(({ type }) => type))],
    not_checked: reasonsOf(verdicts),
  }
}

function reasonsOf(verdicts: readonly TaskVerdict[]): string[] {
  const reasons = verdicts.flatMap(({ not_checked }) => not_checked.map(({ reason }) => reason))
  return [...new Set(reasons)].toSorted()
}

function usageIn(calls: RecordedCase['calls'], rows: readonly Observation[]): Outcome['usage'] {
  const wanted = sumOf(calls, ({ usage }) => usage.input + usage.output)
  const input = sumOf(rows, inputOf)
  const got = input + sumOf(rows, outputOf)
  if (got === 0) return 'none'
  if (got === 2 * wanted) return 'doubled'
  return got === wanted && input === sumOf(calls, ({ usage }) => usage.input) ? 'exact' : 'wrong'
}

function sumOf<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + read(item), 0)
}

function inputOf(row: Observation): number {
  const { input_uncached_tokens, cache_read_tokens, cache_write_tokens } = row
  return (input_uncached_tokens ?? 0) + (cache_read_tokens ?? 0) + (cache_write_tokens ?? 0)
}

function outputOf({ output_visible_tokens, reasoning_tokens }: Observation): number {
  return (output_visible_tokens ?? 0) + (reasoning_tokens ?? 0)
}

/** docs/reference/stacks.md: what each recorded stack sends, and what Looptrace reads from it. */
export function stacksPage(outcomes: readonly StackOutcome[]): string {
  return [
    '# Client stacks',
    '',
    'Real programs, and what Looptrace reads of them. Each was recorded once, with an agent that has one tool: in one run',
    'it asks for the same missing file seven times, whole and streamed, in another it reads three files. The tests',
    'replay the recordings ([how to record](../../CONTRIBUTING.md#recordings-of-stacks)). Written by `make verdicts`.',
    '',
    'Calls that pass the proxy, below one task:',
    '',
    '| stack | call | default call | streamed | tools | loop found | usage exact | nothing wrong in the healthy run |',
    '|---|---|---|---|---|---|---|---|',
    ...outcomes.map(({ recording, cases }) =>
      cells(stackName(recording), pathsOf(recording), ...columnsOf(cases, 'by_proxy')),
    ),
    '',
    'Spans that the same programs export:',
    '',
    '| stack | scopes of spans | default call | streamed | tools | loop found | usage exact | nothing wrong in the healthy run |',
    '|---|---|---|---|---|---|---|---|',
    ...outcomes
      .filter(({ recording }) => scopesOf(recording) !== '')
      .map(({ recording, cases }) =>
        cells(stackName(recording), scopesOf(recording), ...columnsOf(cases, 'by_spans')),
      ),
    '',
    '"Not checked" means that the spans lack what detectors need; the verdict of the task says so.',
    '',
    '| versions | stacks |',
    '|---|---|',
    ...versionRows(outcomes),
    '',
  ].join('\n')
}

function cells(...texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}

function columnsOf(cases: readonly CaseOutcome[], way: 'by_proxy' | 'by_spans'): string[] {
  const [loop, streamed, work] = cases.map((one) => one[way])
  if (loop === undefined || streamed === undefined || work === undefined) return []
  return [
    loop.calls === 8 ? 'yes' : `${loop.calls} of 8 calls`,
    streamed.calls === 8 ? 'yes' : `${streamed.calls} of 8 calls`,
    // A framework may end a run with a tool of its own.
    work.tool_calls >= 3 ? 'yes' : 'no',
    inBoth(loopCell(loop), loopCell(streamed)),
    inBoth(usageCell(loop), usageCell(streamed)),
    work.wrong.length === 0 ? 'yes' : `no: ${work.wrong.map((type) => `\`${type}\``).join(', ')}`,
  ]
}

function loopCell({ loop, not_checked }: Outcome): string {
  if (loop) return 'yes'
  return not_checked.length > 0 ? 'not checked' : 'no'
}

function usageCell({ usage }: Outcome): string {
  return { exact: 'yes', none: 'no usage', doubled: 'counted twice', wrong: 'no' }[usage]
}

function inBoth(whole: string, streamed: string): string {
  return whole === streamed ? whole : `${whole}, streamed: ${streamed}`
}

function stackName({ stack, language }: Recording): string {
  return `${stack} (${language === 'python' ? 'Python' : 'Node'})`
}

function pathsOf({ cases }: Recording): string {
  const paths = cases.flatMap(({ calls }) => calls.map(({ request }) => request.path))
  return [...new Set(paths)].map((path) => `\`${path}\``).join(', ')
}

function scopesOf({ cases }: Recording): string {
  const names = cases.flatMap(({ exports }) =>
    exports.flatMap(({ body }) => {
      const groups = 'resourceSpans' in body ? body.resourceSpans : []
      return groups.flatMap(({ scopeSpans }) => scopeSpans.map(({ scope }) => scope?.name ?? ''))
    }),
  )
  return [...new Set(names)]
    .toSorted()
    .map((name) => `\`${name}\``)
    .join(', ')
}

function versionRows(outcomes: readonly StackOutcome[]): string[] {
  const byVersions = Map.groupBy(outcomes, ({ recording }) => versionsOf(recording))
  return [...byVersions].map(([versions, same]) =>
    cells(versions, same.map(({ recording }) => recording.stack).join(', ')),
  )
}

function versionsOf({ packages }: Recording): string {
  const named = Object.entries(packages).filter(([name]) => !name.startsWith('opentelemetry-'))
  return named.map(([name, version]) => `${name} ${version}`).join(', ')
}
