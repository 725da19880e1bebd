import { describe, expect, test } from 'vitest'
import { readHistory } from '../../src/capabilities/detection/index.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { PlainTraces } from '../support/otlp-messages.ts'
import { endpointOf, recordedSessions, rowOfExchange } from '../support/provider-sessions.ts'
import { hasSharedFixtures, readFixture } from '../support/shared-fixtures.ts'
import { checkTurns, saidIn, turnsOf } from '../support/turns.ts'
import { readRecording, recordedStacks } from '../tools/emissions/recording.ts'
import { placed, rowsOfCalls, rowsOfExport, rowsOfExports } from '../tools/emissions/replay.ts'

/** Turns of what real providers and real stacks sent. */

const second = 1_000_000_000n
const start = 1_790_000_000n * second

/** Endpoints whose exchanges are model calls. */
const callEndpoints = new Set(['responses', 'messages', 'generate_content', 'interactions'])

/** Returns the calls of a session, five seconds apart. */
function rowsOfSession(session: ReturnType<(typeof sessions)[number]['session']>): Observation[] {
  return session.exchanges.flatMap((exchange, at) => {
    const endpoint = endpointOf(exchange.request)
    if (endpoint === undefined || !callEndpoints.has(endpoint)) return []
    const begun = start + BigInt(at) * 5n * second
    const times = { start_time: `${begun}`, end_time: `${begun + second}` }
    return rowOfExchange(exchange, endpoint, {
      ...{ ...times, observation_id: `o${String(at).padStart(3, '0')}`, task_id: 'session' },
    })
  })
}

/**
 * Returns the texts of the turns up to the last answer and those of the last history; undefined for a
 * session with other histories than a single one that grows.
 */
function compareHistories(rows: readonly Observation[]) {
  const { run, turns } = turnsOf(rows)
  const last = rows.at(-1)
  const isPlain = run.threads.length === 1 && run.breaks.length === 0 && rows.length > 1
  const isWhole = turns.every(({ history, status }) => history.sent === 'all' && status === 'ok')
  if (!isPlain || !isWhole || last === undefined) return undefined
  const said = saidIn(turns)
  const sent = (readHistory(last) ?? []).map(({ role, text }) => `${role} ${text}`)
  return { said: joinTexts(turns.at(-1)?.answer ? said.slice(0, -1) : said), sent: joinTexts(sent) }
}

/** Joins texts; an answer can be sent again in parts, one for each of its calls. */
function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => !/^assistant\s*$/.test(text)).join('\n')
}

const sessions = recordedSessions<object>()

/**
 * Sessions in which the last answers are not among the messages that came after: a client sent other
 * quotation marks, or a thought as a text, or no answer; a provider's own tools wrote into answers.
 */
const changed = [
  'responses/responses-phases-stream.json',
  'responses/responses-two-providers.json',
  'messages/messages-advisor-two-calls.json',
  'messages/messages-cache-code-files.json',
  'interactions/interactions-stateless.json',
]

describe.runIf(hasSharedFixtures)('sessions of providers', () => {
  test('each tool use, message and answer is in exactly one turn', () => {
    const counts = { turns: 0, tool_uses: 0, reasoning: 0, sessions: 0 }
    for (const { name, session } of sessions) {
      const rows = rowsOfSession(session())
      const { run, turns } = turnsOf(rows)
      checkTurns(run, turns)
      for (const row of rows) {
        const turn = turns.find(({ observation_id }) => observation_id === row.observation_id)
        const asked = turn?.tool_uses.filter(({ origin }) => origin === 'answer') ?? []
        expect(
          asked.map((use) => use.name),
          name,
        ).toEqual(row.tool_calls.map((call) => call.name))
        counts.tool_uses += asked.length
        if (turn?.answer?.reasoning != null) counts.reasoning += 1
      }
      counts.turns += turns.length
      counts.sessions += 1
    }
    expect(counts.sessions).toBeGreaterThan(100)
    expect(counts.turns).toBeGreaterThan(130)
    expect(counts.tool_uses).toBeGreaterThan(30)
    expect(counts.reasoning).toBeGreaterThan(10)
  })

  test('new messages and answers, joined, are the last history that was sent whole', () => {
    const equal: string[] = []
    const others: string[] = []
    for (const { name, session } of sessions) {
      const pair = compareHistories(rowsOfSession(session()))
      if (pair !== undefined) (pair.said === pair.sent ? equal : others).push(name)
    }
    expect(others.toSorted()).toEqual(changed.toSorted())
    expect(equal.length).toBeGreaterThan(15)
  })

  test('a call that two instrumentations recorded is one turn', () => {
    const export_ = readFixture<PlainTraces>('reports/d01-nested-generations.otlp.json')
    const { run, turns } = turnsOf(placed(rowsOfExport(export_, 'json')))
    checkTurns(run, turns)
    expect(turns).toMatchObject([{ counted_once: true, further_records: [{}] }])
  })
})

describe.each(recordedStacks())('the stack %s', (stack) => {
  const { cases } = readRecording(stack)

  test.each(cases)('has the same turns from the proxy and from its spans: $name', (recorded) => {
    const calls = rowsOfCalls(recorded)
    const proxied = turnsOf(calls)
    checkTurns(proxied.run, proxied.turns)
    const titles = proxied.turns.flatMap(({ tool_uses }) => tool_uses.map(({ title }) => title))
    expect(titles.filter((title) => title.startsWith('read_file: ')).length).toBeGreaterThan(0)
    for (const rows of Map.groupBy(rowsOfExports(recorded), (row) => row.task_id).values()) {
      const { run, turns } = turnsOf(rows)
      checkTurns(run, turns)
    }
  })
})
