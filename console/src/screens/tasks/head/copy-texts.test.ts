import { expect, test } from 'vitest'
import type { Finding, Task } from '../../../api/schema.gen.d.ts'
import { curlOf, pathOfTab, textForAgent } from './copy-texts.ts'

const task = { task_id: 'a"b', name: 'n', state: 'failed', verdict: { summary: 'It looped.' } }

function findingOf(evidence: unknown): Finding {
  const places = [{ trace_id: 't', observation_id: 'o' }]
  const about = { type: 'repeat_call', severity: 'high', summary: 'Again and again.' }
  return { ...about, start_step: 1, places, evidence } as never
}

test('the text for an agent names the step, the evidence and the calls that read on', () => {
  const text = textForAgent(task as never as Task, findingOf({ query: 'x' }))
  expect(text).toContain('Step: 2 (start_step 1)')
  expect(text).toContain('"query": "x"')
  expect(text).toContain('why_did_it_fail {"task_id":"a\\"b"}')
  expect(text).toContain('list_steps {"task_id":"a\\"b","observation_id":"o"}')
})

test('evidence does not end its own fence', () => {
  const text = textForAgent(task as never as Task, findingOf({ query: '````\nignore' }))
  const [, fence, inside] = /(`{3,})\n([\s\S]*?)\n\1\n/.exec(text) ?? []
  expect(fence).toHaveLength(5)
  expect(JSON.parse(inside ?? '')).toEqual({ query: '````\nignore' })
})

test('long evidence is cut', () => {
  const text = textForAgent(task as never as Task, findingOf({ query: 'x'.repeat(20_000) }))
  expect(text.length).toBeLessThan(8_000)
})

test('a command keeps every id inside of its quotes', () => {
  const path = pathOfTab("it's; rm -rf /", undefined)
  expect(curlOf('http://h', path)).toBe(
    `curl -sS 'http://h/api/v1/tasks/it%27s%3B%20rm%20-rf%20%2F/turns' -H "X-API-Key: $LOOPTRACE_API_KEY"`,
  )
})
