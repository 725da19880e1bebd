import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ExchangeFacts } from '../../../model/exchange.ts'
import type { ToolCall } from '../../../model/observation.ts'
import { type CallTask, findCallTask, linksFrom } from './index.ts'
import { isUniqueId } from './unique-id.ts'

const session = '6b1f0c1e-9a52-4d0e-8f6b-2f4f5c0b7a11'

type Asked = {
  facts?: Partial<ExchangeFacts>
  body?: object
  response_id?: string
  tool_calls?: ToolCall[]
  answer_text?: string
}

function found(asked: Asked): CallTask {
  const { facts, body, response_id = '', tool_calls = [], answer_text = '' } = asked
  const own = {
    endpoint: 'messages',
    trace_id: 't1',
    task_id: '',
    conversation_id: '',
    key_id: 'k1',
  } as const
  return findCallTask({
    facts: { ...own, parent_observation_id: '', ...facts },
    body: { ...body },
    ...{ response_id, tool_calls, answer_text },
  })
}

const said = (text: string) => ({ role: 'user', content: text })
const toolUse = (id: string, input: object = {}) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'search', input }],
})
const toolResult = (id: string, ...more: object[]) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }, ...more],
})
const claude = { agent_headers: { 'x-claude-code-session-id': session } }

describe('the rule that names a session', () => {
  test.each<[string, Asked, string, string]>([
    ['of Claude Code', { facts: claude }, 'claude_code', session],
    ['of Codex', { facts: { agent_headers: { 'session-id': 's' } } }, 'codex', 's'],
    ['of an older Codex', { facts: { agent_headers: { conversation_id: 's' } } }, 'codex', 's'],
    ['x-session-id', { facts: { agent_headers: { 'x-session-id': 's' } } }, 'x_session_id', 's'],
    [
      'the first of several',
      { facts: { agent_headers: { 'x-session-id': 's', 'x-claude-code-session-id': 'c' } } },
      ...(['claude_code', 'c'] as const),
    ],
    [
      'the next if one is off',
      {
        facts: { ...claude, task_rules_off: ['claude_code'] },
        body: { prompt_cache_key: session },
      },
      ...(['prompt_cache_key', session] as const),
    ],
    [
      'the end of a user id',
      { body: { metadata: { user_id: `user_ab12_account_cd34_session_${session}` } } },
      ...(['metadata_user_id', session] as const),
    ],
    [
      'JSON in a user id',
      { body: { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: session }) } } },
      ...(['metadata_user_id', session] as const),
    ],
    ['no user id of a person', { body: { metadata: { user_id: 'ann@example.com' } } }, '', ''],
    ['no constant cache key', { body: { prompt_cache_key: 'my-application-v1' } }, '', ''],
    [
      'no header with control characters',
      { body: { prompt_cache_key: `${session}\u0007` } },
      '',
      '',
    ],
    [
      'a conversation',
      { facts: { endpoint: 'responses' }, body: { conversation: { id: 'conv_1' } } },
      ...(['conversation', 'conv_1'] as const),
    ],
    [
      'a conversation that is too long',
      { facts: { endpoint: 'responses' }, body: { conversation: 'x'.repeat(257) } },
      ...(['', ''] as const),
    ],
  ])('is %s', (_name, asked, rule, name) => {
    expect(found(asked)).toMatchObject({ rule, session: name })
  })

  test('yields to what the client says itself', () => {
    const ours = found({ facts: { ...claude, task_id: 'T' }, body: { messages: [said('a')] } })
    expect(ours).toMatchObject({ rule: 'claude_code', session, task_id: '' })
    const both = found({ facts: { ...claude, task_id: 'T', conversation_id: 'c' } })
    expect(both.rule).toBe('')
    const traced = found({
      facts: { ...claude, parent_observation_id: 'a1' },
      body: { messages: [said('a')] },
    })
    expect(traced).toMatchObject({ session, task_id: '' })
  })
})

describe('turns of a session', () => {
  const taskOf = (...messages: object[]) => found({ facts: claude, body: { messages } }).task_id
  const first = said('Fix the test.')
  const loop = [first, toolUse('toolu_01a'), toolResult('toolu_01a')]

  test('go on with results of tools, also with text and reminders after them', () => {
    const task = taskOf(first)
    expect(task).toMatch(new RegExp(`^claude_code:${session}:1-`))
    const reminder = '<system-reminder>The file changed.</system-reminder>'
    expect(taskOf(...loop)).toBe(task)
    expect(taskOf(...loop, said('[system reminder] step 3 of 50'))).toBe(task)
    expect(taskOf(first, toolUse('b'), toolResult('b', { type: 'text', text: 'Go on.' }))).toBe(
      task,
    )
    expect(taskOf(said(reminder), first)).toBe(task)
    expect(taskOf(said(`Fix the test.\n${reminder}`))).toBe(task)
    const blocks = [reminder, 'Fix the test.'].map((text) => ({ type: 'text', text }))
    expect(taskOf({ role: 'user', content: blocks })).toBe(task)
  })

  test('begin with a new message of the person, also with the same words', () => {
    const answer = { role: 'assistant', content: 'Done.' }
    const tasks = [
      taskOf(...loop),
      taskOf(...loop, answer, said('continue')),
      taskOf(...loop, answer, said('continue'), answer, said('continue')),
      taskOf(said('This session continues an earlier one.'), answer, said('continue please')),
    ]
    expect(new Set(tasks).size).toBe(4)
  })

  test('belong to a session: another one or another project has others', () => {
    const other = { agent_headers: { 'x-claude-code-session-id': 'other' } }
    expect(found({ facts: other, body: { messages: [first] } }).task_id).not.toBe(taskOf(first))
  })

  test('fit the column, also with long names of sessions', () => {
    const agent_headers = { 'session-id': 's'.repeat(256), 'thread-id': 't'.repeat(256) }
    const { task_id } = found({ facts: { agent_headers }, body: { messages: [first] } })
    expect(task_id.length).toBeLessThanOrEqual(256)
  })
})

test('a sub-agent wants the call that gave it its prompt, also one inside another', () => {
  const prompt = 'Look at the tests.'
  const started = { id: 'toolu_01', name: 'Task', arguments: JSON.stringify({ prompt }) }
  const main = found({
    ...{ facts: claude, body: { messages: [said('Go.')] } },
    tool_calls: [started, { id: 'x', name: 'Read', arguments: '{' }],
  })
  const agent_headers = { ...claude.agent_headers, 'x-claude-code-agent-id': 'a1' }
  const messages = [said(`${prompt}\n`), toolUse('b'), toolResult('b')]
  const inner = found({ facts: { agent_headers }, body: { messages } })
  expect(inner).toMatchObject({ agent: 'a1', task_id: `claude_code:${session}:a1`, session })
  expect(main.links.gives).toEqual([inner.links.wants])
})

describe('history that the provider holds', () => {
  const responses = { endpoint: 'responses' } as const

  test('leads to the answer before, unless it is off or the client names a task', () => {
    const body = { previous_response_id: 'resp_1', input: 'b' }
    const links = { gives: ['response:resp_2'], wants: 'response:resp_1' }
    const call = { facts: responses, body, response_id: 'resp_2' }
    expect(found(call)).toMatchObject({ rule: 'response_id', task_id: '', links })
    const off = { ...call, facts: { ...responses, task_rules_off: ['response_id'] as const } }
    expect(found({ ...off, body: { ...body, store: false } }).links).toEqual({
      gives: [],
      wants: '',
    })
    expect(found({ ...call, facts: { ...responses, task_id: 'T' } }).links.wants).toBe('')
    const interaction = found({
      ...{ facts: { endpoint: 'interactions' }, response_id: 'v2' },
      body: { previous_interaction_id: 'v1', input: 'b' },
    })
    expect(interaction.links).toEqual({ gives: ['response:v2'], wants: 'response:v1' })
  })

  test('leads to the answer that a client keeps as its conversation', () => {
    const call = found({ facts: responses, body: { conversation: 'resp_1', input: 'b' } })
    expect(call).toMatchObject({
      rule: 'response_id',
      session: '',
      links: { wants: 'response:resp_1' },
    })
  })

  test('in a conversation, results of tools lead to the call that asked for them', () => {
    const asking = found({
      ...{ facts: responses, body: { conversation: 'conv_1', input: 'Go.' } },
      tool_calls: [{ id: 'call_1', name: 'search', arguments: '{}' }],
    })
    const input = [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }]
    const telling = found({ facts: responses, body: { conversation: 'conv_1', input } })
    expect(asking.links.gives).toEqual([telling.links.wants])
  })
})

test.each([
  ['toolu_01A09q90qw90lq917835lq9', true],
  ['call_abc123XYZ789', true],
  ['D681PevKs', true],
  ['chatcmpl-tool-6b1f0c1e9a524d0e', true],
  [session, true],
  ['call_1', false],
  ['c12', false],
  ['', false],
  ['functions.get_weather:0', false],
  ['call_get_weather_1', false],
  ['searchDocuments1', false],
  ['call_00000001', false],
])('the id %s is unique: %s', (id, expected) => {
  expect(isUniqueId(id)).toBe(expected)
})

/** An agent of the naive model: turns of steps, and whether its server numbers tool calls. */
const agent = fc.record({
  turns: fc.array(fc.record({ text: fc.constantFrom('go', 'continue', 'ok'), steps: fc.nat(4) }), {
    minLength: 1,
    maxLength: 4,
  }),
  hasSession: fc.boolean(),
})

type Call = { turn: string; asked: Asked }

/** Runs an agent; each call has the name of the turn that it truly belongs to. */
function callsOf(
  { turns, hasSession }: { turns: { text: string; steps: number }[]; hasSession: boolean },
  place: number,
): Call[] {
  const calls: Call[] = []
  const history: object[] = []
  const facts = hasSession ? { agent_headers: { 'x-session-id': `session ${place}` } } : {}
  for (const [number, { text, steps }] of turns.entries()) {
    history.push(said(text))
    for (let step = 0; step <= steps; step += 1) {
      const id = `toolu_${place}a${number}b${step}c1234567`
      const tool_calls = step < steps ? [{ id, name: 'search', arguments: '{}' }] : []
      const turn = `${place} ${number}`
      calls.push({ turn, asked: { facts, body: { messages: [...history] }, tool_calls } })
      if (step < steps) history.push(toolUse(id), toolResult(id))
      else history.push({ role: 'assistant', content: 'Done.' })
    }
  }
  return calls
}

test('calls have one task exactly if they belong to one turn of one agent', () => {
  fc.assert(
    fc.property(fc.array(agent, { minLength: 1, maxLength: 4 }), (agents) => {
      const calls = agents.flatMap(callsOf)
      const places = calls.map(({ asked }) => found(asked))
      const tasks = places.map(({ task_id, links: { wants } }, at) => {
        const giver = places.find(({ links }) => links.gives.includes(wants))
        return task_id || giver?.task_id || `own ${at}`
      })
      for (const [a, one] of calls.entries()) {
        for (const [b, other] of calls.entries()) {
          expect(tasks[a] === tasks[b], `${one.turn} and ${other.turn}`).toBe(
            one.turn === other.turn,
          )
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('a history that is replayed, with no call that got its first step, stays a task of its own', () => {
  const messages = [said('go'), toolUse('toolu_01a2b3c4d5'), toolResult('toolu_01a2b3c4d5')]
  const replayed = found({ body: { messages } })
  expect(replayed).toMatchObject({ task_id: '', links: { gives: [] } })
  expect(replayed.links.wants).toMatch(/^step:/)
  expect(found({ facts: { key_id: 'k2' }, body: { messages } }).links.wants).not.toBe(
    replayed.links.wants,
  )
})

test('ids that are not unique name a call only with its history and key', () => {
  const messages = [said('go'), toolUse('call_1', { b: 2, a: 1 }), toolResult('call_1')]
  const first = found({
    body: { messages: messages.slice(0, 1) },
    tool_calls: [{ id: 'call_1', name: 'search', arguments: '{ "a": 1, "b": 2 }' }],
  })
  const next = found({ body: { messages } })
  expect(first).toMatchObject({ rule: 'history', links: { wants: '' } })
  expect(next).toMatchObject({ rule: 'history', task_id: '', links: { gives: [] } })
  expect(first.links.gives).toEqual([next.links.wants])
  const others = [
    found({ facts: { key_id: 'k2' }, body: { messages } }),
    found({ body: { messages: [said('come'), ...messages.slice(1)] } }),
    found({ body: { messages: [said('go'), toolUse('call_1'), toolResult('call_1')] } }),
  ]
  for (const other of others) expect(other.links.wants).not.toBe(next.links.wants)
})

test('a loop whose tools are called in text is linked by its first answer', () => {
  const stop = ['Observation:', 'Calling tools:']
  const asked = [said('New task: find it.')]
  const answer_text = 'Thought: I should search for the file first.\nCode: search("a")'.padEnd(
    80,
    '.',
  )
  const step = [
    ...asked,
    { role: 'assistant', content: [{ type: 'text', text: `${answer_text}</code>` }] },
    said('Observation:\nnot found'),
  ]
  const facts = { endpoint: 'chat.completions' } as const
  const first = found({ facts, body: { messages: asked, stop }, answer_text })
  expect(first.task_id).toMatch(/^history:/)
  for (const messages of [step, [...step, ...step.slice(1)]]) {
    const next = found({ facts, body: { messages, stop }, answer_text: 'more' })
    expect([next.links.wants]).toEqual(first.links.gives)
  }
  const chat = [...asked, { role: 'assistant', content: answer_text }, said('Thanks.')]
  const nothing = { rule: '', task_id: '', links: { gives: [], wants: '' } }
  expect(found({ facts, body: { messages: chat }, answer_text })).toMatchObject(nothing)
  expect(found({ facts, body: { messages: asked }, answer_text })).toMatchObject(nothing)
})

test('any body of any format is read', () => {
  const endpoints = ['messages', 'responses', 'chat.completions', 'generate_content'] as const
  const text = fc.constantFrom('user', 'assistant', 'tool', 'a', session)
  const keys = fc.constantFrom('role', 'content', 'type', 'parts', 'id', 'tool_calls', 'function')
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      ...[text, fc.constant(null), fc.integer(), fc.array(tie('any'), { maxLength: 4 })],
      fc.dictionary(keys, tie('any'), { maxKeys: 4 }),
    ),
  })).any
  fc.assert(
    fc.property(fc.constantFrom(...endpoints), value, value, (endpoint, sent, other) => {
      const body = { messages: sent, input: sent, contents: sent, metadata: other }
      const task = found({ facts: { endpoint }, body: { ...body, conversation: other } })
      expect(task.task_id.length).toBeLessThanOrEqual(256)
    }),
  )
  expect(linksFrom({})).toBeUndefined()
})
