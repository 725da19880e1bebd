import { expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { constraintDropped } from './constraint-dropped.ts'

function compacted(summary: string, later = 'What is a buoy?') {
  return agentRun(`${summary} ${later}`)
    .user('Please always answer in Spanish. What is a lighthouse?')
    .assistant('Un faro es una torre con una luz.')
    .user('Who keeps it?')
    .assistant('Lo cuida un farero.')
    .compact(`Summary of the conversation so far: ${summary}`)
    .user(later)
    .assistant('Una boya es una señal que flota.')
}

test('reports the rule that a summary leaves out', () => {
  expect(findingsOf(constraintDropped, compacted('lighthouses were explained.'))).toMatchObject([
    {
      severity: 'low',
      start_step: 2,
      evidence: { original_context: 'Please always answer in Spanish.' },
    },
  ])
})

test.each([
  ['keeps the rule', 'lighthouses were explained; the user wants Spanish.', 'What is a buoy?'],
  ['is followed by the rule', 'lighthouses were explained.', 'In Spanish: what is a buoy?'],
])('a summary that %s is healthy', (_name, summary, later) => {
  expect(findingsOf(constraintDropped, compacted(summary, later))).toEqual([])
})

test.each([
  ['Answer in at most 20 words, always.', 'lighthouses; max. 20.'],
  ['Answer in at most 20 words, always.', 'Leuchttürme; höchstens 20 Wörter.'],
  ['Never use bullet points.', 'lighthouses; flowing text.'],
  ['Never use exclamation marks.', 'lighthouses. No "!" in answers.'],
  ['Always end your answers with "Ahoy!".', 'lighthouses. Sign-off: ahoy'],
  ['Always answer in English.', 'lighthouses. EN only.'],
])('a rule kept in other words is healthy: %s %s', (rule, summary) => {
  const run = (kept: string) =>
    agentRun(rule + kept)
      .user(`${rule} What is a lighthouse?`)
      .assistant('A tower with a light. Ahoy!')
      .user('Who keeps it?')
      .assistant('A keeper does. Ahoy!')
      .compact(`Summary of the conversation so far: ${kept}`)
      .user('What is a buoy?')
      .assistant('A sign that floats. Ahoy!')
  expect(findingsOf(constraintDropped, run(summary))).toEqual([])
  expect(findingsOf(constraintDropped, run('towers were explained.'))).toHaveLength(1)
})

test('a history without a summary, and a conversation without rules, are not judged', () => {
  const cut = agentRun('cut')
    .user('Please always answer in Spanish. What is a lighthouse?')
    .assistant('Un faro es una torre con una luz.')
    .user('Who keeps it?')
    .assistant('Lo cuida un farero.')
    .truncate(2)
    .user('What is a buoy?')
    .assistant('Una boya es una señal.')
  expect(findingsOf(constraintDropped, cut)).toEqual([])
})
