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
      severity: 'medium',
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
