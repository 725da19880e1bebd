import { expect, test } from 'vitest'
import { sampleReport } from './sample-run.ts'
import type { ShownTask } from './sample-tasks-api.ts'

const looping: ShownTask = {
  task_id: 'refund-1042',
  calls: 7,
  verdict: {
    summary:
      'The task was completed but went wrong at step 2: search_policy was called 5 times with the ' +
      'same arguments and the same result; about 2,000 tokens wasted.',
    worst_severity: 'high',
    root_cause: { type: 'repeat_call', step: 1 },
  },
}
const twin: ShownTask = {
  task_id: 'refund-1043',
  calls: 5,
  verdict: {
    summary: 'The task was completed after 5 steps and 4 tool calls with nothing wrong found.',
    worst_severity: null,
    root_cause: null,
  },
}
test('the report has both verdicts, the step, and commands that show more', () => {
  expect(sampleReport([looping, twin])).toBe(`\
Two sample agents ran through the proxy, with a scripted provider. The verdicts:

  refund-1042  went wrong at step 2 of 7: repeat_call, high
    The task was completed but went wrong at step 2: search_policy was called 5
    times with the same arguments and the same result; about 2,000 tokens
    wasted.

  refund-1043  nothing wrong found
    The task was completed after 5 steps and 4 tool calls with nothing wrong
    found.

See the loop, and each step of both:

  curl $LOOPTRACE_URL/api/v1/tasks/refund-1042/loops \\
    -H "X-API-Key: $LOOPTRACE_API_KEY"
  curl $LOOPTRACE_URL/api/v1/tasks/refund-1042/timeline \\
    -H "X-API-Key: $LOOPTRACE_API_KEY"
  curl $LOOPTRACE_URL/api/v1/tasks/refund-1043/timeline \\
    -H "X-API-Key: $LOOPTRACE_API_KEY"

`)
})

test('a missing verdict is named, with the command that reads it', () => {
  const report = sampleReport([twin])
  expect(report).toContain('  refund-1042  no verdict yet; read it later with the command below\n')
  expect(report).toContain('curl $LOOPTRACE_URL/api/v1/tasks/refund-1042 \\\n')
  expect(report).toContain('  refund-1043  nothing wrong found\n')
})

test('a finding of the healthy agent is shown', () => {
  const report = sampleReport([looping, { ...looping, task_id: 'refund-1043' }])
  expect(report).toContain('refund-1043  went wrong at step 2 of 7')
})

test('no control character of a payload reaches the terminal', () => {
  const summary = 'it called \u001b[2Jsearch 5 times'
  const verdict = { summary, worst_severity: 'high', root_cause: { type: '\u009b2J', step: null } }
  const report = sampleReport([{ ...looping, verdict }, twin])
  expect(report).toContain('went wrong: \\u009b2J, high\n    it called \\u001b[2Jsearch')
})

test('no line is longer than a terminal is wide', () => {
  for (const judged of [[], [looping, twin]]) {
    for (const line of sampleReport(judged).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(80)
    }
  }
})
