import { expect, test } from 'vitest'
import { observationSchema } from '../../src/model/observation.ts'
import { agentRun, type RunSource } from './agent-run.ts'

const run = (source: RunSource, streamed = false) =>
  agentRun('weather', { tools: ['weather'], source, streamed, task_name: 'Weather' })
    .system('Be brief.')
    .user('What is the weather in Bonn?')
    .assistant({ error: { status: 429, type: 'rate_limit_exceeded', message: 'Slow down' } })
    .wait(2_000)
    .tool({ name: 'weather', args: { city: 'Bonn' } }, { text: '{"t":20}', after_ms: 250 })
    .assistant('It is 20 °C in Bonn.')

test('the proxy sees each call with its whole history, and results only in the next', () => {
  const rows = run('proxy').observations()
  for (const row of rows) expect(observationSchema.parse(row)).toEqual(row)
  expect(rows.map(({ type, status, outcome }) => [type, status, outcome])).toEqual([
    ['generation', 'error', 'provider_error'],
    ['generation', 'ok', 'complete'],
    ['generation', 'ok', 'complete'],
  ])
  expect(rows[0]).toMatchObject({ status_code: 429, error_type: 'rate_limit_exceeded', output: '' })
  expect(rows[1]?.tool_calls).toMatchObject([{ name: 'weather', arguments: '{"city":"Bonn"}' }])
  expect(rows[2]?.tool_results).toMatchObject([{ content: '{"t":20}' }])
  expect(JSON.parse(rows[2]?.input ?? '').map(({ role }: { role: string }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
  ])
  expect(rows[1]?.attributes['request.tools']).toContain('"name":"weather"')
  expect(Number(rows[2]?.start_time) - Number(rows[1]?.end_time)).toBeCloseTo(250e6, -3)
  expect(rows[2]?.cost_usd).not.toBeNull()
})

test('a stream becomes the same messages', () => {
  const whole = run('proxy').observations()
  const streamed = run('proxy', true).observations()
  for (const [at, row] of streamed.entries()) {
    expect(row.tool_calls).toEqual(whole[at]?.tool_calls)
    expect(row.input).toEqual(whole[at]?.input)
    expect(row.finish_reason).toBe(whole[at]?.finish_reason)
  }
  expect(JSON.parse(streamed[2]?.output ?? '')).toMatchObject(JSON.parse(whole[2]?.output ?? ''))
})

test('spans describe the agent, its calls and its tools', () => {
  for (const source of ['otlp', 'otlp_openinference'] as const) {
    const rows = run(source).observations()
    for (const row of rows) expect(observationSchema.parse(row)).toEqual(row)
    const types = rows.map(({ type }) => type).sort()
    expect(types).toEqual(['agent', 'generation', 'generation', 'generation', 'tool'])
    const tool = rows.find(({ type }) => type === 'tool')
    expect(tool?.tool_calls).toMatchObject([{ name: 'weather', arguments: '{"city":"Bonn"}' }])
    expect(tool?.tool_results).toMatchObject([{ content: '{"t":20}' }])
    const calls = rows.filter(({ type }) => type === 'generation')
    expect(calls[1]?.tool_calls).toMatchObject([{ id: tool?.tool_calls[0]?.id, name: 'weather' }])
    expect(calls[0]).toMatchObject({ status: 'error', status_code: 429 })
  }
})

test('without content they have only names, times and usage', () => {
  const rows = run('otlp_no_content').observations()
  expect(rows.map(({ input, output }) => input + output).join('')).toBe('')
  expect(rows.every(({ content_state }) => content_state === 'none')).toBe(true)
  expect(rows.find(({ type }) => type === 'tool')?.tool_calls).toMatchObject([
    { name: 'weather', arguments: '' },
  ])
})

test('concurrent agents have their own histories and overlap in time', () => {
  const rows = agentRun('two')
    .user('Ask both.')
    .assistant({ calls: [{ name: 'agent' }, { name: 'agent' }] })
    .parallel(
      (one) => one.user('First').assistant('1'),
      (two) => two.user('Second').assistant('2'),
    )
    .results(['1', '2'])
    .assistant('Both said.')
    .observations()
  expect(rows).toHaveLength(4)
  expect(rows[1]?.input).toBe('[{"role":"user","content":"First"}]')
  expect(rows[2]?.input).toBe('[{"role":"user","content":"Second"}]')
  expect((rows[2]?.start_time ?? 0n) < (rows[1]?.end_time ?? 0n)).toBe(true)
  expect((rows[3]?.start_time ?? 0n) > (rows[2]?.end_time ?? 0n)).toBe(true)
})

test('a history can be compacted, cut, changed and dropped', () => {
  const start = agentRun('histories').system('S').user('a').assistant('b').user('c').assistant('d')
  const last = () => start.observations().at(-1)?.input
  start.compact('Summary: a, b', 2).user('e').assistant('f')
  expect(last()).toContain('Summary: a, b')
  expect(JSON.parse(last() ?? '')).toHaveLength(5)
  start.truncate(3).user('g').assistant('h')
  expect(JSON.parse(last() ?? '')).toHaveLength(4)
  start.reset().user('i').assistant('j')
  expect(JSON.parse(last() ?? '')).toEqual([{ role: 'user', content: 'i' }])
})
