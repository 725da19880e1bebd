import { expect, test } from 'vitest'
import type { Observation } from '../../src/model/observation.ts'
import { corpus } from './corpus.ts'
import { isMedium, measure } from './measure.ts'
import type { ChatMessage } from './recorded-run.ts'

/** Adds what a harness says after the results of each step to all histories of a call. */
function withReminders(row: Observation, textOf: (at: number) => string): Observation {
  if (!row.input.startsWith('[')) return row
  const messages: ChatMessage[] = JSON.parse(row.input)
  const sent = messages.flatMap((message, at) => {
    const isLast = message.role === 'tool' && messages[at + 1]?.role !== 'tool'
    return isLast ? [message, { role: 'user', content: textOf(at) }] : [message]
  })
  return { ...row, input: JSON.stringify(sent) }
}

/** Numbers would explain values of answers. */
const names = ['first', 'second', 'third'] as const

const recorded = corpus.filter((run) =>
  run.observations().every(({ source }) => source === 'proxy'),
)

test.each([
  [
    'tags',
    (at: number) => `<system-reminder>\nThe ${names[at % 3]} list is open.\n</system-reminder>`,
  ],
  ['brackets', (at: number) => `[system reminder] the ${names[at % 3]} list is open`],
])('reminders in %s after each result change no finding of any run', (_marks, textOf) => {
  expect(recorded.length).toBeGreaterThan(300)
  const reminded = recorded.map((run) => ({
    ...run,
    observations: () => run.observations().map((row) => withReminders(row, textOf)),
  }))
  const plain = measure(recorded)
  const differing = measure(reminded).flatMap(({ run, findings }, at) => {
    const lines = (all: typeof findings) =>
      all.map(({ type, start_step, severity }) => `${type} ${start_step} ${severity}`).sort()
    const [now, before] = [lines(findings), lines(plain[at]?.findings ?? [])]
    return now.join() === before.join() ? [] : [{ run: run.name, before, now }]
  })
  expect(differing).toEqual([])
})

/** Writes calls and results as texts, as smolagents does. */
function withWrittenResults(row: Observation): Observation {
  if (!row.input.startsWith('[')) return row
  const messages: ChatMessage[] = JSON.parse(row.input)
  const sent = messages.map((message): ChatMessage => {
    const { role, content, tool_calls = [] } = message
    if (role === 'tool') return { role: 'user', content: `Observation:\n${content}` }
    const [call] = tool_calls
    if (call === undefined) return message
    const named = `{'id': '${call.id}', 'function': {'name': '${call.function.name}'}}`
    return { role, content: `${content ?? ''}\nCalling tools:\n[${named}]` }
  })
  return { ...row, input: JSON.stringify(sent), tool_results: [] }
}

test('results that are written as texts hide no loop, and flag no healthy run', () => {
  const single = recorded.filter(
    (run) => !run.name.startsWith('harness') && run.observations().every(hasOneCall),
  )
  expect(single.length).toBeGreaterThan(300)
  const plain = measure(single)
  const written = single.map((run) => ({
    ...run,
    observations: () => run.observations().map(withWrittenResults),
  }))
  const differing = measure(written).flatMap(({ run, findings }, at) => {
    const loops = (all: typeof findings) =>
      all.filter(({ kind }) => kind === 'loop').map(({ type, severity }) => `${type} ${severity}`)
    const isFlagged = run.healthy && findings.some(isMedium)
    const isSame = loops(findings).join() === loops(plain[at]?.findings ?? []).join()
    return isSame && !isFlagged ? [] : [run.name]
  })
  expect(differing).toEqual([])
})

function hasOneCall({ tool_calls }: Observation): boolean {
  return tool_calls.length <= 1
}
