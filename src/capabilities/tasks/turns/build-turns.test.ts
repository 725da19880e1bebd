import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../test/corpus/agent-run.ts'
import { corpus } from '../../../../test/corpus/corpus.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { rowsOfTurns, taskTurns } from '../../../../test/support/task-histories.ts'
import {
  checkTurns,
  findingsOfRun,
  saidIn,
  turnsOf,
  wholeTexts,
} from '../../../../test/support/turns.ts'
import type { Observation } from '../../../model/observation.ts'
import { readHistory } from '../../detection/index.ts'
import type { TaskRun } from '../../detection/reconstruction/index.ts'
import { markFindings } from './mark-findings.ts'
import type { Turn } from './turn-schema.ts'
import { listThreads } from './turns.ts'

const project_id = '0198c0de-0000-7000-8000-00000000000a'

function looping(times: number) {
  return agentRun('turns of a loop', { tools: ['search', 'fetch'] })
    .system('You answer from documents.')
    .user('May I return a cracked hopper?')
    .tool({ name: 'fetch', args: { url: 'https://example.org' } }, 'the front page')
    .times(times, (run) =>
      run.tool({ name: 'search', args: { limit: 3, query: 'refund hopper' } }, 'nothing found'),
    )
    .assistant('I do not know.')
}

describe('turns', () => {
  const { turns } = turnsOf(looping(4).observations())

  test('have only what is new, and count the history that was sent again', () => {
    expect(turns.map(({ history }) => history.earlier_messages)).toEqual([0, 3, 5, 7, 9, 11])
    expect(turns.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ['system', 'user'],
      ...Array.from({ length: 5 }, () => ['tool']),
    ])
    expect(turns[0]?.history).toEqual({
      ...{ sent: 'all', earlier_messages: 0, new_messages: 2, break: null },
    })
    expect(turns.at(-1)?.answer).toMatchObject({ text: { text: 'I do not know.', cut: false } })
  })

  test('title tool uses, and name the messages with their results', () => {
    expect(turns.map(({ tool_uses }) => tool_uses.map(({ title }) => title))).toEqual([
      ['fetch: https://example.org'],
      ...Array.from({ length: 4 }, () => ['search: refund hopper']),
      [],
    ])
    const [use] = turns[1]?.tool_uses ?? []
    expect(use).toMatchObject({
      ...{ origin: 'answer', answered: true, error: null, latency_ms: 400, orphan: null },
      ...{ arguments: { text: '{"limit":3,"query":"refund hopper"}', cut: false } },
      ...{ result: { text: 'nothing found', characters: 13, cut: false } },
    })
    expect(turns[2]?.messages).toMatchObject([{ role: 'tool', tool_use: use?.index }])
    expect(turns[0]?.messages.map(({ tool_use }) => tool_use)).toEqual([null, null])
  })

  test('number the iterations of a loop as its finding does', () => {
    const found = turnsOf(looping(4).observations()).findings.filter(({ kind }) => kind === 'loop')
    expect(found).toMatchObject([{ start_step: 1, end_step: 4, period: 1, repeats: 4 }])
    const finding_id = found[0]?.finding_id
    expect(turns.map(({ iteration }) => iteration)).toEqual([
      null,
      ...[1, 2, 3, 4].map((number) => ({ finding_id, number, of: 4, position: 1 })),
      null,
    ])
    expect(turns[1]?.findings).toContain(finding_id)
    expect(turns[0]?.findings).not.toContain(finding_id)
  })
})

test('a loop of several steps numbers them within each iteration', () => {
  const run = agentRun('turns of a cycle', { tools: ['read', 'write'] })
    .user('Mend the file.')
    .times(3, (one) =>
      one
        .tool({ name: 'read', args: { path: 'a.ts' } }, 'the same text')
        .tool({ name: 'write', args: { path: 'a.ts', text: 'x' } }, 'Error: read-only'),
    )
    .assistant('It cannot be written.')
  const { turns, findings } = turnsOf(run.observations())
  expect(findings).toContainEqual(expect.objectContaining({ type: 'cycle', period: 2, repeats: 3 }))
  const numbers = turns.map(({ iteration }) => [iteration?.number, iteration?.position])
  expect(numbers.slice(0, 6)).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
    [2, 2],
    [3, 1],
    [3, 2],
  ])
})

test('sub-agents are threads below the turn that began them', () => {
  const run = agentRun('turns of sub-agents', { tools: ['ask', 'look'] })
    .user('Ask both.')
    .assistant({
      calls: [
        { name: 'ask', args: { who: 'a' } },
        { name: 'ask', args: { who: 'b' } },
      ],
    })
    .parallel(
      (one) =>
        one.system('You are a.').user('Look for a.').tool({ name: 'look' }, 'a').assistant('A.'),
      (one) =>
        one.system('You are b.').user('Look for b.').tool({ name: 'look' }, 'b').assistant('B.'),
    )
    .results(['A.', 'B.'])
    .assistant('Both said it.')
  const { run: whole, turns } = turnsOf(run.observations())
  const threads = listThreads(whole, new Set(turns.map(({ thread }) => thread)))
  expect(threads).toMatchObject([
    { thread: 0, kind: 'root', parent: null, parent_turn: null, turns: 2, first_turn: 0 },
    { thread: 1, kind: 'sub_agent', parent: 0, parent_turn: 0, turns: 2 },
    { thread: 2, kind: 'sub_agent', parent: 0, parent_turn: 0, turns: 2 },
  ])
  expect(turns.filter(({ thread }) => thread === 1).map(({ messages }) => messages.length)).toEqual(
    [2, 1],
  )
  // A page with sub-agents alone names the thread above them too.
  expect(listThreads(whole, [2]).map(({ thread }) => thread)).toEqual([0, 2])
})

test('a history that was changed says how, and a retry names the call before', () => {
  const run = agentRun('turns of changes')
    .system('Be brief.')
    .user('One?')
    .assistant('1')
    .user('Two?')
    .assistant({ error: { status: 500, type: 'server_error', outcome: 'provider_error' } })
    .assistant('2')
    .user('Three?')
    .compact('Summary of the conversation so far: the user counts.', 1)
    .assistant('3')
  const { turns } = turnsOf(run.observations())
  expect(turns.map(({ retry_of, step }) => [retry_of, step])).toEqual([
    [null, 0],
    [null, null],
    [1, 1],
    [null, 2],
  ])
  expect(turns[1]).toMatchObject({ answer: null, status: 'error', error: { type: 'server_error' } })
  expect(turns[2]?.history).toMatchObject({ earlier_messages: 4, new_messages: 0 })
  expect(turns[3]?.history).toMatchObject({
    ...{ earlier_messages: 0, new_messages: 3 },
    break: { kind: 'compacted' },
  })
})

test('texts are cut to the budget of a turn, and say how long they are', () => {
  const run = agentRun('turns with long texts', { tools: ['look'] })
    .system('s'.repeat(9_000))
    .user('u'.repeat(40_000))
    .tool({ name: 'look', args: { q: 'x'.repeat(5_000) } }, `${'r'.repeat(3_999)}😀`)
    .assistant('a'.repeat(20_000))
  const limits = { ...wholeTexts, text_chars: 4_000, turn_chars: 9_000 }
  const { turns } = turnsOf(run.observations(), limits)
  const [first, second] = turns
  expect(first?.tool_uses[0]).toMatchObject({
    arguments: { characters: 5_008, cut: true },
    result: { text: 'r'.repeat(3_999), characters: 4_001, cut: true },
  })
  const held = first?.messages.map(({ text, characters }) => [text.length, characters])
  // 9,000 − 4,000 − 3,999; then the first words only.
  expect(held).toEqual([
    [1_001, 9_000],
    [200, 40_000],
  ])
  expect(second?.answer?.text).toMatchObject({ characters: 20_000, cut: true })
  expect(second?.answer?.text?.text).toHaveLength(4_000)
})

test('of many new messages the first and the last are shown', () => {
  const rows = looping(60).observations().slice(-1)
  const limits = { ...wholeTexts, messages: 20 }
  const [turn] = turnsOf(rows, limits).turns
  expect(turn?.messages).toHaveLength(20)
  expect(turn).toMatchObject({ messages_left_out: 104, history: { new_messages: 124 } })
  expect(turn?.messages.at(0)?.role).toBe('system')
  // The answers of the history were not observed: their tool uses are shown once, here.
  expect(turn?.tool_uses.every(({ origin }) => origin === 'history')).toBe(true)
})

test('without content, turns have names, times and numbers', () => {
  const run = agentRun('turns without content', { tools: ['look'], source: 'otlp_no_content' })
    .user('Look.')
    .tool({ name: 'look', args: { q: 'a' } }, 'found')
    .assistant('Found.')
  const { turns } = turnsOf(run.observations())
  expect(turns[0]).toMatchObject({
    ...{ content: 'none', content_state: 'none', messages: [], answer: { text: null } },
    history: { sent: 'unknown', earlier_messages: null, new_messages: 0 },
    tool_uses: [{ title: 'look', arguments: null, result: null, answered: true }],
  })
})

test('texts that exceed the budget of a page end it, after at least one turn', () => {
  const rows = looping(4).observations()
  expect(turnsOf(rows, { ...wholeTexts, page_chars: 1 }).turns).toHaveLength(1)
  expect(turnsOf(rows, { ...wholeTexts, page_chars: 150 }).turns.length).toBeLessThan(6)
})

function checkIterations(run: TaskRun, turns: readonly Turn[]): void {
  for (const finding of findingsOfRun(run)) {
    const own = turns.filter(({ findings }) => findings.includes(finding.finding_id))
    if (finding.start_step !== null) {
      expect(own[0]?.step, finding.finding_id).toBe(finding.start_step)
      expect(Math.max(...own.map(({ step }) => step ?? -1))).toBe(finding.end_step)
    } else expect(own.length).toBeGreaterThan(0)
    if (finding.kind !== 'loop' || finding.period === null || finding.repeats === null) continue
    const steps = own.flatMap(({ iteration }) =>
      iteration?.finding_id === finding.finding_id ? [iteration] : [],
    )
    expect(steps, finding.finding_id).toEqual(
      Array.from({ length: finding.period * finding.repeats }, (_, at) => ({
        ...{ finding_id: finding.finding_id, of: finding.repeats },
        number: Math.floor(at / (finding.period ?? 1)) + 1,
        position: (at % (finding.period ?? 1)) + 1,
      })),
    )
  }
}

test('labelled runs: each tool use and message is in one turn, and iterations agree with findings', () => {
  const checked = corpus.map(({ observations }) => {
    const { run, turns } = turnsOf(observations())
    checkTurns(run, turns)
    checkIterations(run, turns)
    return turns.filter(({ iteration }) => iteration !== null).length
  })
  expect(checked.filter((numbered) => numbered > 0).length).toBeGreaterThan(20)
})

/** Returns roles and texts of the last history of an agent, and its answer. */
function lastHistory(rows: readonly Observation[]): string[] {
  const last = rows.findLast(({ type }) => type === 'generation')
  const sent = last === undefined ? [] : (readHistory(last) ?? [])
  const said = sent.map(({ role, text }) => `${role} ${text}`)
  return last?.output ? [...said, `assistant ${readAnswerText(last)}`] : said
}

function readAnswerText({ output }: Observation): string {
  return (JSON.parse(output) as { content: string }[])[0]?.content ?? ''
}

test('new messages and answers of a thread, joined, are its last history', () => {
  fc.assert(
    fc.property(taskTurns, (made) => {
      const start_time = 1_790_000_000_000_000_000n
      const rows = rowsOfTurns(
        { ...made, has_history: true },
        { project_id, task_id: 't', start_time },
      )
      const { run, turns } = turnsOf(rows)
      checkTurns(run, turns)
      for (const [trace_id, own] of Map.groupBy(rows, (row) => row.trace_id)) {
        const said = saidIn(turns.filter((turn) => turn.trace_id === trace_id))
        expect(said).toEqual(lastHistory(own))
      }
    }),
    { numRuns: fuzzRuns(300) },
  )
})

test('tasks without histories: each tool use is in one turn', () => {
  fc.assert(
    fc.property(taskTurns, (made) => {
      const start_time = 1_790_000_000_000_000_000n
      const rows = rowsOfTurns(
        { ...made, has_history: false },
        { project_id, task_id: 't', start_time },
      )
      const { run, turns } = turnsOf(rows)
      checkTurns(run, turns)
    }),
    { numRuns: fuzzRuns(200) },
  )
})

test('a finding of another run, or with a step that is gone, marks nothing', () => {
  const { run } = turnsOf(looping(3).observations())
  const finding = { finding_id: 'f', kind: 'loop' as const, start_step: 99, end_step: 120 }
  const marks = markFindings(run, [{ ...finding, period: 1, repeats: 9, places: [] }])
  expect([marks.findings.size, marks.iterations.size]).toEqual([0, 0])
})
