import { expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { foundBy } from '../../../../../test/support/detect-one.ts'
import { repeatCall } from './repeat-call.ts'

const read = (run: AgentRun, text = 'retries: 3') =>
  run.tool({ name: 'read_file', args: { path: 'a.yaml' } }, text)

function asked(name: string) {
  return agentRun(name).system('Help.').user('Change the retries.')
}

test('three equal calls with equal results are a loop that starts at the first', () => {
  const run = asked('three')
    .tool({ name: 'list_dir' }, 'a.yaml')
    .times(3, (agent) => read(agent))
    .assistant('I do not know.')
  const [found, ...others] = foundBy(repeatCall, run)
  expect(others).toEqual([])
  expect(found).toMatchObject({
    type: 'repeat_call',
    severity: 'medium',
    start_step: 1,
    end_step: 3,
    period: 1,
    repeats: 3,
    recovered: false,
    confidence: 0.5,
  })
  const rows = run.observations()
  expect(found?.places.map(({ observation_id }) => observation_id)).toEqual(
    rows.slice(1, 4).map(({ observation_id }) => observation_id),
  )
  expect(found?.anchor).toContain(rows[1]?.observation_id)
  expect(found?.evidence).toMatchObject({
    calls: [{ name: 'read_file', arguments: '{"path":"a.yaml"}', result: 'retries: 3' }],
  })
})

test('the cost of all but the first is wasted', () => {
  const run = asked('waste').times(3, (agent) =>
    agent
      .assistant({
        calls: [{ name: 'read_file', args: { path: 'a' } }],
        input_tokens: 100,
        output_tokens: 10,
      })
      .results(['x']),
  )
  const [found] = foundBy(repeatCall, run.assistant('No.'))
  expect(found?.wasted_tokens).toBe(220)
  expect(found?.wasted_nano_dollars).toBeGreaterThan(0n)
})

test('five are high; a later successful new call lowers the severity', () => {
  const five = (name: string) => asked(name).times(5, (agent) => read(agent))
  expect(foundBy(repeatCall, five('five').assistant('No.'))).toMatchObject([{ severity: 'high' }])
  const later = five('later').tool({ name: 'write_file', args: { path: 'a.yaml' } }, 'written')
  expect(foundBy(repeatCall, later.assistant('Done.'))).toMatchObject([
    { severity: 'low', recovered: true, confidence: 0.875 },
  ])
})

test.each<[string, (run: AgentRun) => AgentRun]>([
  ['two are not a loop', (run) => run.times(2, (agent) => read(agent))],
  ['other results are news', (run) => run.times(4, (agent, at) => read(agent, `retries: ${at}`))],
  [
    'other arguments are another call',
    (run) => run.times(5, (agent, at) => agent.tool({ name: 'page', args: { at } }, 'empty')),
  ],
  [
    'the user asks again',
    (run) => run.times(4, (agent) => read(agent).assistant('It is 3.').user('Look again.')),
  ],
  [
    'an edit in between',
    (run) =>
      run.times(4, (agent, at) =>
        read(agent).tool({ name: 'edit_file', args: { at } }, 'edited a.yaml'),
      ),
  ],
  [
    'outages are failures, no loops',
    (run) => run.times(4, (agent) => read(agent, 'Error: 503 Service Unavailable')),
  ],
  [
    'parallel calls are one step',
    (run) =>
      run
        .assistant({ calls: [1, 2, 3, 4].map(() => ({ name: 'read_file', args: { path: 'a' } })) })
        .results(['x', 'x', 'x', 'x']),
  ],
])('%s', (name, write) => {
  expect(foundBy(repeatCall, write(asked(name)).assistant('Done.'))).toEqual([])
})

test.each<[string, (run: AgentRun, at: number) => AgentRun]>([
  ['a polling tool name', (run) => run.tool({ name: 'get_job_status', args: {} }, 'seen')],
  ['a pending result', (run) => run.tool({ name: 'get_export', args: {} }, '{"state":"queued"}')],
  ['a client that waits', (run) => read(run.wait(10_000))],
  ['a client that waits longer each time', (run, at) => read(run.wait(1_000 * 2 ** at))],
  [
    'a shell that sleeps',
    (run) => run.tool({ name: 'bash', args: { command: 'sleep 5; cat out' } }, ''),
  ],
  ['a pressed key', (run) => run.tool({ name: 'press_key', args: { key: 'Down' } }, 'ok')],
])('polling is reported late and as low: %s', (name, write) => {
  const times = (count: number) =>
    foundBy(repeatCall, asked(`${name} ${count}`).times(count, write).assistant('Done.'))
  expect(times(3)).toEqual([])
  expect(times(4)).toMatchObject([{ severity: 'low', evidence: { polling: true } }])
  expect(times(9)).toMatchObject([{ severity: 'low' }])
  expect(times(10)).toMatchObject([{ severity: 'medium' }])
})

test('a poll that completes is recovered', () => {
  const poll = (run: AgentRun, text: string) => run.tool({ name: 'job_status', args: {} }, text)
  const run = asked('poll').times(12, (agent) => poll(agent, 'running'))
  expect(foundBy(repeatCall, poll(run, 'done').assistant('It is done.'))).toMatchObject([
    { severity: 'low', recovered: true },
  ])
})

test('a waiting call does not count; a missing result lowers confidence', () => {
  const two = asked('pending').times(2, (agent) => read(agent))
  const pending = two.assistant({ calls: [{ name: 'read_file', args: { path: 'a.yaml' } }] })
  expect(foundBy(repeatCall, pending)).toEqual([])
  const lost = asked('lost')
    .times(2, (agent) => read(agent))
    .assistant({ calls: [{ name: 'read_file', args: { path: 'a.yaml' } }] })
    .assistant('I give up.')
  expect(foundBy(repeatCall, lost)).toMatchObject([{ repeats: 3, confidence: 0.4 }])
})

test('ignores volatile tokens in results and spellings of arguments', () => {
  const run = asked('volatile').times(3, (agent, at) =>
    agent.tool(
      { name: 'get_price', args: at % 2 ? '{ "b": 1.0, "a": 2 }' : '{"a":2,"b":1}' },
      `{"price":4,"request_id":"7f3a9c10bd4${at}"}`,
    ),
  )
  expect(foundBy(repeatCall, run.assistant('4.'))).toHaveLength(1)
})

test('a sentence about several tools is one', () => {
  const calls = [
    { name: 'f', args: { id: 1 } },
    { name: 'g', args: { id: 2 } },
  ]
  const run = agentRun('pair')
    .user('Look.')
    .times(3, (agent) => agent.assistant({ calls }).results(['1', '2']))
    .assistant('Done.')
  expect(foundBy(repeatCall, run)).toMatchObject([
    { summary: expect.stringMatching(/^f and g were called 3 times in a row/) },
  ])
})
